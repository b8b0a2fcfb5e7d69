//! What the vendors of a storm send, and how the destinations take it: drawn
//! beforehand, so that a seed repeats it.

use super::dice::Dice;
use crate::e2e::destination::Manner;
use crate::e2e::vendors::{Delivery, Payment, push, shop, unique};
use sekali::time::Clock;
use sekali_aws::SystemClock;
use std::collections::BTreeMap;

/// An event that the vendors tell of.
#[derive(Debug, Clone)]
pub struct Told {
    /// The endpoint that hears of it.
    pub endpoint: &'static str,
    /// The vendor's id.
    pub id: String,
    /// The effect that it asks for, if any: the destination, and the order or
    /// commit that stands in every call for it.
    pub effect: Option<(&'static str, String)>,
}

/// One delivery on its way.
#[derive(Debug, Clone)]
pub struct Sent {
    /// What is sent.
    pub delivery: Delivery,
    /// The event that it tells of; none where it is forged.
    pub event: Option<usize>,
}

/// A whole storm.
#[derive(Debug)]
pub struct Plan {
    /// The events.
    pub events: Vec<Told>,
    /// The deliveries, in the order in which they are sent.
    pub deliveries: Vec<Sent>,
    /// Sent once more when everything has come to rest.
    pub replays: Vec<Sent>,
    /// The ids of events that nobody may store, by endpoint.
    pub forged: Vec<(&'static str, String)>,
    /// For each payment: what was said of it, with the time that it carries.
    pub payments: BTreeMap<String, Vec<(i64, &'static str, usize)>>,
    /// How a destination takes calls whose body holds this text.
    pub manners: Vec<(String, Vec<Manner>)>,
    /// Orders that a destination refuses for certain.
    pub refused: Vec<String>,
}

/// How far deliveries are put out of order.
const REACH: usize = 60;

impl Plan {
    /// A storm of so many events.
    pub fn draw(events: usize, dice: &Dice) -> Self {
        let mut plan = Self {
            events: Vec::with_capacity(events),
            deliveries: Vec::new(),
            replays: Vec::new(),
            forged: Vec::new(),
            payments: BTreeMap::new(),
            manners: Vec::new(),
            refused: Vec::new(),
        };
        let mut stories = dice.part(1);
        while plan.events.len() < events {
            match stories.below(10) {
                0..5 => plan.payment(&mut stories),
                5..7 => plan.shipment(&mut stories),
                _ => plan.push(&mut stories),
            }
        }
        dice.part(2).shuffle(&mut plan.deliveries, REACH);
        // A few come from anywhere: a vendor's queue that was stuck for hours.
        let mut stuck = dice.part(3);
        for _ in 0..plan.deliveries.len() / 20 {
            let (from, to) = (stuck.below(plan.deliveries.len()), stuck.below(plan.deliveries.len()));
            plan.deliveries.swap(from, to);
        }
        plan
    }

    /// A payment's story, and sometimes the shop's word for the same order.
    fn payment(&mut self, dice: &mut Dice) {
        let mut payment = Payment::unique();
        payment.created = SystemClock.now().0 / 1_000 - 3_600;
        let (kind, order) = (payment.payment.clone(), payment.order.clone());
        let next = |payment: &Payment, later: i64| Payment {
            event: unique("evt"),
            created: payment.created + later,
            ..payment.clone()
        };
        if dice.percent(40) {
            let place = self.tell("stripe", &payment.event, None);
            self.payments.entry(kind.clone()).or_default().push((payment.created, "authorized", place));
            self.send(place, &payment.authorized(), None, dice);
        }
        let paid = next(&payment, 60);
        let place = self.tell("stripe", &paid.event, Some(("packing", order.clone())));
        self.payments.entry(kind.clone()).or_default().push((paid.created, "paid", place));
        let other = Payment { amount: 1, ..paid.clone() };
        self.send(place, &paid.paid(), Some(&other.paid()), dice);
        if dice.percent(30) {
            let refunded = next(&payment, 120);
            let place = self.tell("stripe", &refunded.event, None);
            self.payments.entry(kind).or_default().push((refunded.created, "refunded", place));
            self.send(place, &refunded.refunded(), None, dice);
        }
        if dice.percent(30) {
            let id = unique("msg");
            let place = self.tell("shop", &id, Some(("packing", order.clone())));
            self.send(place, &shop("order.paid", &id, &order), None, dice);
        }
        self.temper(&order, dice, 25);
    }

    fn shipment(&mut self, dice: &mut Dice) {
        let (id, order) = (unique("msg"), unique("order"));
        let place = self.tell("shop", &id, Some(("shipping", order.clone())));
        self.send(place, &shop("order.shipped", &id, &order), None, dice);
        self.temper(&order, dice, 8);
    }

    fn push(&mut self, dice: &mut Dice) {
        let (id, commit) = (unique("delivery"), unique("commit"));
        let place = self.tell("github", &id, Some(("builds", commit.clone())));
        self.send(place, &push(&id, &commit), None, dice);
        self.temper(&commit, dice, 8);
    }

    fn tell(&mut self, endpoint: &'static str, id: &str, effect: Option<(&'static str, String)>) -> usize {
        self.events.push(Told { endpoint, id: id.to_owned(), effect });
        self.events.len() - 1
    }

    /// A third of all events are delivered several times; some in conflict
    /// with themselves, some again at the end; now and then somebody forges.
    fn send(&mut self, event: usize, delivery: &Delivery, other: Option<&Delivery>, dice: &mut Dice) {
        let times = if dice.percent(33) { 2 + dice.below(4) } else { 1 };
        let sent = |delivery: &Delivery| Sent { delivery: delivery.clone(), event: Some(event) };
        self.deliveries.extend((0..times).map(|_| sent(delivery)));
        if let Some(other) = other.filter(|_| dice.percent(10)) {
            self.deliveries.push(sent(other));
        }
        if dice.percent(10) {
            self.replays.push(sent(delivery));
        }
        if dice.percent(10) {
            let payment = Payment::unique();
            self.forged.push(("stripe", payment.event.clone()));
            self.deliveries.push(Sent { delivery: payment.paid(), event: None });
        }
    }

    /// In so many of a hundred cases a destination takes its first call badly.
    fn temper(&mut self, naming: &str, dice: &mut Dice, percent: usize) {
        if !dice.percent(percent) {
            return;
        }
        let manners = match dice.below(7) {
            0 => vec![Manner::Says(429, &[("retry-after", "1")])],
            1 => vec![Manner::ActsUnheard],
            2 => vec![Manner::ActsAndHangsUp],
            3 => vec![Manner::Silent],
            4 => vec![Manner::Says(500, &[])],
            5 => vec![Manner::Says(500, &[]), Manner::ActsUnheard],
            _ => {
                self.refused.push(naming.to_owned());
                vec![Manner::Says(422, &[])]
            }
        };
        self.manners.push((naming.to_owned(), manners));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_has_as_many_events_as_asked_and_a_third_more_deliveries_at_least() {
        let plan = Plan::draw(500, &Dice::of(7));
        assert!((500..510).contains(&plan.events.len()));
        assert!(plan.deliveries.len() > plan.events.len() * 4 / 3);
        assert!(!plan.forged.is_empty() && !plan.replays.is_empty() && !plan.manners.is_empty());
    }
}
