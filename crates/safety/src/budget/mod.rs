//! Plans, limits, what is set aside and what is spent.
