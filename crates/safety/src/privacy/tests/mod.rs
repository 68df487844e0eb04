//! There and back, in every script.

mod there_and_back;
