//! Tools: what one is, which there are, and the one way to call them.
