//! The contract on the reference model, and on the model behind a decorator
//! without faults: one that changed anything would make every fault test lie.

mod model {
    use sekali_tests::memory::MemoryStore;

    async fn open() -> anyhow::Result<MemoryStore> {
        Ok(MemoryStore::default())
    }

    sekali_tests::contract_tests!(open);
}

mod decorated {
    use sekali_tests::contract::sample::NOW;
    use sekali_tests::fault::{Faults, Faulty, Schedule};
    use sekali_tests::memory::{MemoryStore, VirtualClock};

    async fn open() -> anyhow::Result<Faulty<MemoryStore>> {
        let faults = Faults::new(Schedule::quiet(), VirtualClock::at(NOW)).interleaved();
        Ok(faults.worker("w").through(MemoryStore::default()))
    }

    sekali_tests::contract_tests!(open);
}
