//! A share of a processor, as Lambda gives to a function by its memory: a
//! control group of our own with a quota. Where this machine lets nobody make
//! one, there is none, and the report says so.

use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A function of so many megabytes has a whole processor.
const MEGABYTES_OF_A_PROCESSOR: f64 = 1_769.0;

/// In which slices the share is given.
const PERIOD: Duration = Duration::from_millis(20);

const V1: &str = "/sys/fs/cgroup/cpu";
const V2: &str = "/sys/fs/cgroup";

/// A control group; it is removed with this value, when nobody is in it.
#[derive(Debug)]
pub struct Quota {
    folder: PathBuf,
}

impl Quota {
    /// The share of a function with this much memory.
    ///
    /// # Errors
    /// This machine has no control groups, or not for us.
    pub fn of_memory(megabytes: f64) -> Result<Self> {
        let share = PERIOD.mul_f64(megabytes / MEGABYTES_OF_A_PROCESSOR).as_micros();
        let period = PERIOD.as_micros();
        let name = format!("sekali-bench-{}", std::process::id());
        let old = PathBuf::from(V1).join("cpu.cfs_quota_us").is_file() || PathBuf::from(V1).is_dir();
        let folder = PathBuf::from(if old { V1 } else { V2 }).join(name);
        fs::create_dir(&folder).with_context(|| format!("no control group {}", folder.display()))?;
        let quota = Self { folder };
        if old {
            quota.set("cpu.cfs_period_us", &period.to_string())?;
            quota.set("cpu.cfs_quota_us", &share.to_string())?;
        } else {
            quota.set("cpu.max", &format!("{share} {period}"))?;
        }
        Ok(quota)
    }

    fn set(&self, file: &str, value: &str) -> Result<()> {
        fs::write(self.folder.join(file), value).with_context(|| format!("{file} cannot be set"))
    }

    /// From now on the process has only this share.
    ///
    /// # Errors
    /// The system refuses.
    pub fn take(&self, process: u32) -> Result<()> {
        self.set("cgroup.procs", &process.to_string())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A group with a process in it stays; the process is ended before.
        let _ = fs::remove_dir(&self.folder);
    }
}
