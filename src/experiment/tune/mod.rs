//! Search for parameters of a scheduler: random candidates, successive halving over training seeds, and a judgement on
//! data that the search has not seen.

mod candidates;
mod goal;
mod halving;
mod outcome;
mod params_text;
mod sample;
mod search;
mod space;

pub use goal::{Bound, Goal, Score};
pub use halving::{Plan, Rung};
pub use outcome::{Compared, Miss, Stage, Tuned, TunedParameter, Verdict};
pub use params_text::{change_words, params_text};
pub use sample::MEAN;
pub use search::{HeldOut, Request, Search};
pub use space::SearchSpace;
