//! Nothing but tests stands here: `make soak`.
