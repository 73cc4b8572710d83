#![no_main]

use aegis_sim::traces::import::LogFormat;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| aegis_sim_fuzz::import_log(LogFormat::Csv, bytes));
