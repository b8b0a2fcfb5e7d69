//! Counts, in tests, what a sender's bytes make us do: it must grow like the
//! bytes do and no faster (INV-8). Time would say so too, on a quiet machine.
//! Outside of tests nothing is counted.

#[cfg(test)]
thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// One step of a loop whose length a sender decides.
#[inline]
pub(crate) fn step() {
    #[cfg(test)]
    TAKEN.set(TAKEN.get() + 1);
}

/// How many steps `work` takes.
#[cfg(test)]
pub(crate) fn taken_by<T>(work: impl FnOnce() -> T) -> u64 {
    let before = TAKEN.get();
    work();
    TAKEN.get() - before
}
