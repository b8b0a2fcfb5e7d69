//! Orders of a few things.

/// The order as given, and every other one where there are at most `most`
/// things; else only the order turned around.
pub(super) fn orders(count: usize, most: usize) -> Box<dyn Iterator<Item = Vec<usize>>> {
    let given: Vec<usize> = (0..count).collect();
    if count > most {
        let turned: Vec<usize> = given.iter().rev().copied().collect();
        return Box::new([given, turned].into_iter());
    }
    let mut next = Some(given);
    Box::new(std::iter::from_fn(move || {
        let order = next.take()?;
        next = following(&order);
        Some(order)
    }))
}

/// The order after this one in the order of a dictionary.
fn following(order: &[usize]) -> Option<Vec<usize>> {
    let mut order = order.to_vec();
    let pivot = order.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = order.iter().rposition(|value| *value > order[pivot])?;
    order.swap(pivot, larger);
    order[pivot + 1..].reverse();
    Some(order)
}

/// Every way to give each of `count` places another one of `of` things.
pub(super) fn choices(count: usize, of: usize) -> Vec<Vec<usize>> {
    (0..count).fold(vec![Vec::new()], |chosen, _| {
        chosen
            .iter()
            .flat_map(|taken| {
                (0..of).filter(|thing| !taken.contains(thing)).map(|thing| {
                    let mut more = taken.clone();
                    more.push(thing);
                    more
                })
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_comes_once() {
        let all: Vec<_> = orders(4, 5).collect();
        assert_eq!(all.len(), 24);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 24);
        assert_eq!(all[0], [0, 1, 2, 3]);
        assert_eq!(orders(0, 5).count(), 1);
        assert_eq!(orders(9, 5).count(), 2);
    }

    #[test]
    fn no_thing_is_given_to_two_places() {
        assert_eq!(choices(2, 3).len(), 6);
        assert!(choices(2, 3).iter().all(|chosen| chosen[0] != chosen[1]));
    }
}
