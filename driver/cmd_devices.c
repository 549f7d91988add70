/* tcc devices: where models can run. */
#include "driver/json.h"
#include "driver/options.h"

#include <stdio.h>

static void print_json(const tcc_device_info *info, bool first) {
    printf("%s{\"device\": ", first ? "" : ", ");
    json_print_string(info->device);
    printf(", \"usable\": %s, \"text\": ", info->usable ? "true" : "false");
    json_print_string(info->text);
    putchar('}');
}

Exit cmd_devices(const Options *options) {
    tcc_device_info info = {.size = sizeof info};
    bool json = options_has(options, OPTION_json);
    if (json) printf("{\"devices\": [");
    for (uint32_t i = 0; tcc_device_at(i, &info) == TCC_OK; i++) {
        if (json)
            print_json(&info, i == 0);
        else
            printf("%-8s  %s%s\n", info.device, info.usable ? "" : "none: ", info.text);
    }
    if (json) printf("]}\n");
    return EXIT_fine;
}
