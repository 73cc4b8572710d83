use super::Time;

/// The place of an event in a run's total order.
///
/// Events are handled by ascending time, then class, then sequence number. The class is the caller's
/// order of kinds at one instant; the sequence number is given by the queue and makes events of one
/// instant and class first in, first out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub time: Time,
    pub class: u8,
    pub seq: u64,
}

/// Names a pushed event until it is popped or cancelled; after that it names nothing, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

struct Slot<E> {
    generation: u32,
    /// Index in the heap while queued.
    place: u32,
    event: Option<E>,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    slot: u32,
}

/// Children per node: a wide node trades comparisons, which are cheap, for cache misses, which are not.
const ARITY: usize = 4;

/// A priority queue with a total order, cancellation and rescheduling, each in O(log n).
///
/// A heap of (key, slot) entries with the payloads in a slab beside it, each slot knowing its place in
/// the heap. Freed slots are used again, so that a run whose number of pending events is bounded stops
/// allocating once it has seen its maximum.
///
/// ```
/// use aegis_sim::engine::{EventQueue, Time};
///
/// let mut queue = EventQueue::new();
/// let late = queue.push(Time::from_s(9.0), 0, "late");
/// queue.push(Time::from_s(1.0), 1, "second");
/// queue.push(Time::from_s(1.0), 0, "first");
/// assert_eq!(queue.cancel(late), Some("late"));
/// assert_eq!(queue.pop().map(|(_, event)| event), Some("first"));
/// assert_eq!(queue.pop().map(|(_, event)| event), Some("second"));
/// assert!(queue.pop().is_none());
/// ```
pub struct EventQueue<E> {
    heap: Vec<Entry>,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
    next_seq: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> EventQueue<E> {
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Room for `capacity` pending events before the first reallocation.
    pub fn with_capacity(capacity: usize) -> Self {
        EventQueue {
            heap: Vec::with_capacity(capacity),
            slots: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            next_seq: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    pub fn push(&mut self, time: Time, class: u8, event: E) -> Handle {
        let key = self.next_key(time, class);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(Slot { generation: 0, place: 0, event: None });
                (self.slots.len() - 1) as u32
            }
        };
        self.slots[slot as usize].event = Some(event);
        self.heap.push(Entry { key, slot });
        self.sift_up(self.heap.len() - 1);
        Handle { slot, generation: self.slots[slot as usize].generation }
    }

    /// The key of the next event.
    pub fn peek(&self) -> Option<Key> {
        self.heap.first().map(|entry| entry.key)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Key, E)> {
        let first = *self.heap.first()?;
        let event = self.remove(0)?;
        Some((first.key, event))
    }

    /// Takes a pending event out; `None` when it was popped or cancelled before.
    pub fn cancel(&mut self, handle: Handle) -> Option<E> {
        let place = self.place(handle)?;
        self.remove(place)
    }

    /// Moves a pending event to another time, behind what is already there at its class; `false` when it
    /// was popped or cancelled before.
    pub fn reschedule(&mut self, handle: Handle, time: Time) -> bool {
        let Some(place) = self.place(handle) else { return false };
        let key = self.next_key(time, self.heap[place].key.class);
        self.heap[place].key = key;
        let place = self.sift_up(place);
        self.sift_down(place);
        true
    }

    fn next_key(&mut self, time: Time, class: u8) -> Key {
        let seq = self.next_seq;
        self.next_seq += 1;
        Key { time, class, seq }
    }

    fn place(&self, handle: Handle) -> Option<usize> {
        let slot = self.slots.get(handle.slot as usize)?;
        (slot.generation == handle.generation && slot.event.is_some()).then_some(slot.place as usize)
    }

    fn remove(&mut self, place: usize) -> Option<E> {
        let entry = self.heap.swap_remove(place);
        if place < self.heap.len() {
            let place = self.sift_up(place);
            self.sift_down(place);
        }
        let slot = &mut self.slots[entry.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(entry.slot);
        slot.event.take()
    }

    /// Moves the entry up to where it belongs and returns its place.
    fn sift_up(&mut self, mut place: usize) -> usize {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].key <= entry.key {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    fn sift_down(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let first = place * ARITY + 1;
            if first >= self.heap.len() {
                break;
            }
            let mut least = first;
            for child in first + 1..(first + ARITY).min(self.heap.len()) {
                if self.heap[child].key < self.heap[least].key {
                    least = child;
                }
            }
            if entry.key <= self.heap[least].key {
                break;
            }
            self.put(place, self.heap[least]);
            place = least;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.slots[entry.slot as usize].place = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Push(i64, u8),
        Pop,
        Cancel(usize),
        Move(usize, i64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0i64..20, 0u8..3).prop_map(|(t, c)| Step::Push(t, c)),
            2 => Just(Step::Pop),
            1 => any::<prop::sample::Index>().prop_map(|i| Step::Cancel(i.index(1 << 16))),
            1 => (any::<prop::sample::Index>(), 0i64..20).prop_map(|(i, t)| Step::Move(i.index(1 << 16), t)),
        ]
    }

    proptest! {
        /// The queue against a sorted list that does everything the slow way.
        #[test]
        fn agrees_with_a_sorted_list(steps in prop::collection::vec(step(), 1..200)) {
            let mut queue = EventQueue::new();
            let mut model: Vec<(i64, u8, u64, usize)> = Vec::new();
            let mut handles = Vec::new();
            let mut seq = 0;
            for step in steps {
                match step {
                    Step::Push(t, class) => {
                        let id = handles.len();
                        handles.push(queue.push(Time::from_micros(t), class, id));
                        model.push((t, class, seq, id));
                        seq += 1;
                    }
                    Step::Pop => {
                        model.sort();
                        let expected = (!model.is_empty()).then(|| model.remove(0));
                        let got = queue.pop().map(|(k, id)| (k.time.micros(), k.class, k.seq, id));
                        prop_assert_eq!(got, expected);
                    }
                    Step::Cancel(i) if !handles.is_empty() => {
                        let id = i % handles.len();
                        let at = model.iter().position(|e| e.3 == id);
                        prop_assert_eq!(queue.cancel(handles[id]), at.map(|p| model.remove(p).3));
                    }
                    Step::Move(i, t) if !handles.is_empty() => {
                        let id = i % handles.len();
                        let at = model.iter_mut().find(|e| e.3 == id);
                        let moved = queue.reschedule(handles[id], Time::from_micros(t));
                        prop_assert_eq!(moved, at.is_some());
                        if let Some(entry) = at {
                            *entry = (t, entry.1, seq, id);
                            seq += 1;
                        }
                    }
                    Step::Cancel(_) | Step::Move(..) => {}
                }
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }

    #[test]
    fn a_used_handle_names_nothing() {
        let mut queue = EventQueue::new();
        let first = queue.push(Time::ZERO, 0, 'a');
        assert!(queue.pop().is_some());
        let second = queue.push(Time::ZERO, 0, 'b');
        assert_eq!(queue.cancel(first), None);
        assert!(!queue.reschedule(first, Time::STEP));
        assert_eq!(queue.cancel(second), Some('b'));
        assert!(queue.is_empty());
    }
}
