/* tcc help [COMMAND]: the same as --help. */
#include "driver/options.h"
#include "driver/report.h"

Exit cmd_help(const Options *options) {
    CommandId command = options->operand ? command_find(options->operand) : COMMAND_compile;
    if (command == COMMAND_count) {
        report_error("there is no command '%s'", options->operand);
        options_suggest_command(options->operand);
        return EXIT_usage;
    }
    help_print(command);
    return EXIT_fine;
}
