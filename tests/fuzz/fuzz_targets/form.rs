#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sekali_fuzz::properties::form::property(data));
