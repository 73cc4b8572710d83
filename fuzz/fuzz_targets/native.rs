#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| aegis_sim_fuzz::read_native(bytes));
