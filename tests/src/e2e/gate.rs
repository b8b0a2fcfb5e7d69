//! A place at which somebody is made to wait, so that a test can do something
//! at exactly that moment.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// A gate; clones are the same gate. It is shut until it is opened, and then
/// open for good.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Posts>);

#[derive(Debug)]
struct Posts {
    arrivals: Semaphore,
    passage: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self::shut()
    }
}

impl Gate {
    /// A gate that is shut.
    pub fn shut() -> Self {
        Self(Arc::new(Posts { arrivals: Semaphore::new(0), passage: Semaphore::new(0) }))
    }

    /// Waits until one more stands, or stood, at it.
    pub async fn reached(&self) {
        if let Ok(arrival) = self.0.arrivals.acquire().await {
            arrival.forget();
        }
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.0.passage.close();
    }

    /// Comes to it and waits until it is open.
    pub async fn pass(&self) {
        self.0.arrivals.add_permits(1);
        // It only ever ends by being closed: that is the gate's opening.
        let _ = self.0.passage.acquire().await;
    }
}
