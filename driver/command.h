/* Commands: what each is called with and returns. */
#ifndef TCC_DRIVER_COMMAND_H
#define TCC_DRIVER_COMMAND_H

typedef struct Options Options;

/* The exit status of the process. */
typedef enum Exit {
    EXIT_fine,
    EXIT_wrong,      /* the input is wrong, or a check failed */
    EXIT_usage,      /* the command line is wrong */
    EXIT_environment /* could not, for a reason outside of the input */
} Exit;

typedef Exit CommandFunction(const Options *options);

#define COMMAND(name, operand, meaning) CommandFunction cmd_##name;
#include "driver/commands.def"
#undef COMMAND

typedef enum CommandId {
#define COMMAND(name, operand, meaning) COMMAND_##name,
#include "driver/commands.def"
#undef COMMAND
    COMMAND_count
} CommandId;

typedef enum CommandBit {
#define COMMAND(name, operand, meaning) CMD_##name = 1 << COMMAND_##name,
#include "driver/commands.def"
#undef COMMAND
    CMD_all = (1 << COMMAND_count) - 1,
    CMD_model =
        CMD_all & ~(CMD_devices | CMD_help | CMD_completion | CMD_man) /* those that read a model */
} CommandBit;

typedef struct CommandInfo {
    const char *name, *operand, *meaning;
    CommandFunction *run;
} CommandInfo;

const CommandInfo *command_info(CommandId id);

/* The command of that name, which is not `compile`; COMMAND_count when there is none. */
CommandId command_find(const char *word);

#endif
