/* A module as text again. Functions are declared before variables, variables before bodies, so that
 * every name is known where it is used; local names are made from indices. */
#include "emulator/ptx/print.h"

#include "base/scratch.h"

#include <inttypes.h>
#include <string.h>

/* ---- variables ---------------------------------------------------------------------------- */

static const char *space_word(PtxSpace space) {
    static const char *const words[] = {
        [PTX_SPACE_generic] = "global", [PTX_SPACE_global] = "global", [PTX_SPACE_const] = "const",
        [PTX_SPACE_shared] = "shared",  [PTX_SPACE_local] = "local",   [PTX_SPACE_param] = "param"};
    return words[space];
}

/* .space .align N .type name[count] */
static void print_declared(Printer *printer, const PtxVariable *variable, bool is_extern) {
    Buf *buf = &printer->buf;
    uint64_t element = (uint64_t)ptx_type_bits(variable->type) / 8;
    buf_print(buf, ".%s ", space_word(variable->space));
    if (variable->is_managed) buf_print(buf, ".attribute(.managed) ");
    buf_print(buf, ".align %" PRIu64 " .%s ", variable->align, ptx_type_name(variable->type));
    print_variable_name(printer, variable);
    if (variable->size == 0 && is_extern)
        buf_print(buf, "[]");
    else if (variable->size != element)
        buf_print(buf, "[%" PRIu64 "]", variable->size / element);
}

static void print_relocation(Printer *printer, const PtxRelocation *relocation, uint64_t element) {
    Buf *buf = &printer->buf;
    bool masked = relocation->size < element || relocation->shift;
    if (masked) buf_print(buf, "0x%" PRIX64 "(", (uint64_t)0xFF << relocation->shift);
    if (relocation->generic) buf_put(buf, STR("generic("));
    if (relocation->variable)
        print_variable_name(printer, relocation->variable);
    else
        buf_put(buf, relocation->function->name);
    if (relocation->generic) buf_char(buf, ')');
    if (relocation->addend) buf_print(buf, "+%" PRId64, relocation->addend);
    if (masked) buf_char(buf, ')');
}

static void print_element(Printer *printer, const PtxVariable *variable, uint64_t at,
                          uint64_t element) {
    uint64_t bits = 0;
    memcpy(&bits, variable->initial + at, element < 8 ? element : 8);
    if (ptx_type_class(variable->type) != PTX_CLASS_float)
        buf_print(&printer->buf, "%" PRIu64, bits);
    else
        buf_print(&printer->buf, element == 4 ? "0f%08" PRIX64 : "0d%016" PRIX64, bits);
}

static void print_initial(Printer *printer, const PtxVariable *variable) {
    uint64_t element = (uint64_t)ptx_type_bits(variable->type) / 8;
    uint32_t next = 0;
    bool scalar = variable->size == element;
    if (!variable->initial || !variable->size) return;
    buf_print(&printer->buf, " = %s", scalar ? "" : "{");
    for (uint64_t at = 0; at < variable->size; at += element) {
        if (at) buf_char(&printer->buf, ',');
        if (next < variable->relocation_count && variable->relocations[next].at == at)
            print_relocation(printer, &variable->relocations[next++], element);
        else
            print_element(printer, variable, at, element);
    }
    if (!scalar) buf_char(&printer->buf, '}');
}

static void print_variable(Printer *printer, const PtxVariable *variable, bool as_extern) {
    bool is_extern = as_extern || variable->is_extern;
    if (is_extern)
        buf_print(&printer->buf, ".extern ");
    else if (variable->is_visible)
        buf_print(&printer->buf, ".visible ");
    print_declared(printer, variable, is_extern);
    if (!is_extern) print_initial(printer, variable);
    buf_put(&printer->buf, STR(";\n"));
}

/* Whether an initial value names a variable that is declared later. */
static bool needs_forward(const PtxModule *module) {
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const PtxVariable *v = module->variables[i];
        for (uint32_t r = 0; r < v->relocation_count; r++)
            if (v->relocations[r].variable && v->relocations[r].variable->index >= i) return true;
    }
    return false;
}

static void print_variables(Printer *printer, const PtxModule *module) {
    bool forward = needs_forward(module);
    for (uint32_t i = 0; forward && i < module->variable_count; i++)
        print_variable(printer, module->variables[i], true);
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!forward || !module->variables[i]->is_extern)
            print_variable(printer, module->variables[i], false);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void print_parameters(Printer *printer, const PtxVariable *const *items, uint32_t count) {
    buf_char(&printer->buf, '(');
    for (uint32_t i = 0; i < count; i++) {
        if (i) buf_put(&printer->buf, STR(", "));
        print_declared(printer, items[i], items[i]->size == 0);
    }
    buf_char(&printer->buf, ')');
}

static void print_dimensions(Printer *printer, const char *word, PtxDimensions d) {
    if (d.x || d.y || d.z) buf_print(&printer->buf, "\n.%s %u, %u, %u", word, d.x, d.y, d.z);
}

static void print_number(Printer *printer, const char *word, uint32_t number) {
    if (number) buf_print(&printer->buf, "\n.%s %u", word, number);
}

static void print_directives(Printer *printer, const PtxFunction *f) {
    print_dimensions(printer, "maxntid", f->max_threads);
    print_dimensions(printer, "reqntid", f->required_threads);
    print_dimensions(printer, "reqnctapercluster", f->required_cluster);
    print_number(printer, "minnctapersm", f->min_ctas);
    print_number(printer, "maxnreg", f->max_registers);
    print_number(printer, "maxclusterrank", f->max_cluster_rank);
    if (f->blocks_are_clusters) buf_print(&printer->buf, "\n.blocksareclusters");
    if (f->no_return) buf_print(&printer->buf, "\n.noreturn");
}

static void print_signature(Printer *printer, const PtxFunction *f, Str name) {
    if (f->result_count) {
        print_parameters(printer, f->results, f->result_count);
        buf_char(&printer->buf, ' ');
    }
    buf_put(&printer->buf, name);
    buf_char(&printer->buf, ' ');
    print_parameters(printer, f->parameters, f->parameter_count);
    print_directives(printer, f);
}

static void print_head(Printer *printer, const PtxFunction *f) {
    printer->function = f;
    if (f->is_extern) buf_print(&printer->buf, ".extern ");
    if (f->is_visible) buf_print(&printer->buf, ".visible ");
    if (f->is_weak) buf_print(&printer->buf, ".weak ");
    buf_print(&printer->buf, f->is_entry ? ".entry " : ".func ");
    print_signature(printer, f, f->name);
}

/* ---- bodies ------------------------------------------------------------------------------- */

static void print_registers(Printer *printer) {
    const PtxFunction *f = printer->function;
    for (uint32_t i = 0; i < f->register_count; i++)
        buf_print(&printer->buf, ".reg .%s %sr%u;\n", ptx_type_name(f->registers[i].type),
                  printer->mark, i);
}

static void print_target_list(Printer *printer, const PtxTargets *targets) {
    Buf *buf = &printer->buf;
    for (uint32_t i = 0; i < targets->count; i++) {
        if (i) buf_char(buf, ',');
        if (targets->kind == PTX_TARGETS_branch)
            buf_print(buf, " %sL%u", printer->mark, targets->labels[i]);
        else
            buf_print(buf, " %.*s", STR_ARG(targets->functions[i]->name));
    }
}

static void print_targets(Printer *printer) {
    const PtxFunction *f = printer->function;
    Buf *buf = &printer->buf;
    for (uint32_t i = 0; i < f->target_count; i++) {
        const PtxTargets *targets = &f->targets[i];
        buf_print(buf, "%st%u: ", printer->mark, i);
        if (targets->kind == PTX_TARGETS_prototype) {
            buf_put(buf, STR(".callprototype "));
            printer->function = targets->prototype;
            print_signature(printer, targets->prototype, STR("_"));
            printer->function = f;
        } else {
            buf_put(buf, targets->kind == PTX_TARGETS_branch ? STR(".branchtargets")
                                                             : STR(".calltargets"));
            print_target_list(printer, targets);
        }
        buf_put(buf, STR(";\n"));
    }
}

/* Which instructions have labels; one more than there are, for the end. */
static bool *find_labels(Arena *arena, const PtxFunction *f) {
    bool *labels = NEW_ARRAY(arena, bool, f->instruction_count + 1);
    for (uint32_t i = 0; i < f->instruction_count; i++)
        for (uint32_t k = 0; k < f->instructions[i].operand_count; k++)
            if (f->instructions[i].operands[k].kind == PTX_OPERAND_label)
                labels[f->instructions[i].operands[k].index] = true;
    for (uint32_t i = 0; i < f->target_count; i++)
        for (uint32_t k = 0; f->targets[i].kind == PTX_TARGETS_branch && k < f->targets[i].count;
             k++)
            labels[f->targets[i].labels[k]] = true;
    return labels;
}

static void print_place(Printer *printer, const PtxLocation *location) {
    buf_print(&printer->buf, "%u %u %u", location->file_number, location->line, location->column);
}

/* Functions that were inlined are named by what .debug_str has for them. */
static void print_location(Printer *printer, uint32_t index) {
    const PtxLocation *all = printer->function->locations;
    buf_put(&printer->buf, STR(".loc "));
    print_place(printer, &all[index]);
    if (all[index].inlined_at) {
        buf_print(&printer->buf, ", function_name %ss", printer->mark);
        for (size_t i = 0; i < all[index].function.size; i++)
            buf_print(&printer->buf, "%02x", (unsigned char)all[index].function.data[i]);
        buf_put(&printer->buf, STR(", inlined_at "));
        print_place(printer, &all[all[index].inlined_at]);
    }
    buf_char(&printer->buf, '\n');
}

static void print_instructions(Printer *printer, Arena *arena) {
    const PtxFunction *f = printer->function;
    const bool *labels = find_labels(arena, f);
    uint32_t location = f->location_count - 1;
    for (uint32_t i = 1; i < f->location_count; i++) print_location(printer, i);
    for (uint32_t i = 0; i < f->instruction_count; i++) {
        if (labels[i]) buf_print(&printer->buf, "%sL%u:\n", printer->mark, i);
        if (f->instructions[i].location != location) {
            location = f->instructions[i].location;
            print_location(printer, location);
        }
        print_instruction(printer, &f->instructions[i]);
        buf_char(&printer->buf, '\n');
    }
}

static void print_body(Printer *printer, Arena *arena, const PtxFunction *f) {
    print_head(printer, f);
    buf_put(&printer->buf, STR("\n{\n"));
    print_registers(printer);
    for (uint32_t i = 0; i < f->variable_count; i++) {
        if (f->variables[i]->is_extern) buf_put(&printer->buf, STR(".extern "));
        print_declared(printer, f->variables[i], f->variables[i]->is_extern);
        print_initial(printer, f->variables[i]);
        buf_put(&printer->buf, STR(";\n"));
    }
    print_targets(printer);
    print_instructions(printer, arena);
    buf_put(&printer->buf, STR("}\n"));
}

/* ---- the module --------------------------------------------------------------------------- */

/* % and as many _ as it takes that no name of the module begins so. */
static const char *find_mark(Arena *arena, const PtxModule *module) {
    Str mark = STR("%");
    size_t longest = 0;
    for (uint32_t i = 0; i < module->function_count + module->variable_count; i++) {
        Str name = i < module->function_count ? module->functions[i]->name
                                              : module->variables[i - module->function_count]->name;
        size_t run = 1;
        if (!str_starts_with(name, mark)) continue;
        while (run < name.size && name.data[run] == '_') run++;
        if (run > longest) longest = run;
    }
    char *text = arena_alloc(arena, longest + 2);
    memset(text, '_', longest + 1);
    text[0] = '%';
    return text;
}

static void print_files(Printer *printer, Arena *arena, const PtxModule *module) {
    Map seen = {.arena = arena};
    for (uint32_t i = 0; i < module->function_count; i++) {
        const PtxFunction *f = module->functions[i];
        for (uint32_t k = 1; k < f->location_count; k++) {
            const PtxLocation *l = &f->locations[k];
            Str key = {(const char *)&l->file_number, sizeof l->file_number};
            if (!l->file.size || map_set(&seen, key, printer)) continue;
            buf_print(&printer->buf, ".file %u \"%.*s\"\n", l->file_number, STR_ARG(l->file));
        }
    }
}

static void print_string(Printer *printer, Str text) {
    buf_print(&printer->buf, "%ss", printer->mark);
    for (size_t i = 0; i < text.size; i++)
        buf_print(&printer->buf, "%02x", (unsigned char)text.data[i]);
    buf_put(&printer->buf, STR(":\n.b8 "));
    for (size_t i = 0; i < text.size; i++)
        buf_print(&printer->buf, "%d,", (unsigned char)text.data[i]);
    buf_put(&printer->buf, STR("0\n"));
}

static void print_strings(Printer *printer, Arena *arena, const PtxModule *module) {
    Map seen = {.arena = arena};
    buf_put(&printer->buf, STR(".section .debug_str\n{\n"));
    for (uint32_t i = 0; i < module->function_count; i++) {
        const PtxFunction *f = module->functions[i];
        for (uint32_t k = 1; k < f->location_count; k++) {
            Str name = f->locations[k].function;
            if (name.size && !map_set(&seen, name, printer)) print_string(printer, name);
        }
    }
    buf_put(&printer->buf, STR("}\n"));
}

Str ptx_print(Arena *arena, const PtxModule *module) {
    Scratch scratch;
    Arena *work = scratch_open(&scratch);
    Printer printer = {.buf = {.arena = arena}, .mark = find_mark(work, module)};
    grammar_open(&printer.grammar, work);
    buf_print(&printer.buf, ".version %d.%d\n.target sm_%d%s\n.address_size 64\n",
              module->version / 10, module->version % 10, module->target,
              module->target_exact    ? "a"
              : module->target_family ? "f"
                                      : "");
    print_files(&printer, work, module);
    for (uint32_t i = 0; i < module->function_count; i++) {
        print_head(&printer, module->functions[i]);
        buf_put(&printer.buf, STR(";\n"));
    }
    printer.function = NULL;
    print_variables(&printer, module);
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->has_body) print_body(&printer, work, module->functions[i]);
    print_strings(&printer, work, module);
    scratch_close(&scratch);
    return buf_str(&printer.buf);
}
