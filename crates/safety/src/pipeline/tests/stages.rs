//! Each stage, with the one thing that makes it say no.
