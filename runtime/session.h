/* Sessions: the state of one caller's runs. */
#ifndef TCC_RUNTIME_SESSION_H
#define TCC_RUNTIME_SESSION_H

#include <tcc/model.h>

tcc_status session_new(tcc_model *model, tcc_session **out_session);
void session_free(tcc_session *session);
const char *session_message(const tcc_session *session);
tcc_status session_output_dims(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                               uint32_t index, int64_t *out_dims);
tcc_status session_run(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                       const tcc_tensor *outputs, uint32_t output_count);
tcc_status session_enqueue(tcc_session *session, const tcc_tensor *inputs, uint32_t input_count,
                           const tcc_tensor *outputs, uint32_t output_count, void *stream);
tcc_status session_sync(tcc_session *session);
tcc_status session_run_info(const tcc_session *session, tcc_run_info *out_info);
void session_profile(tcc_session *session, tcc_profile_callback *callback, void *user);

#endif
