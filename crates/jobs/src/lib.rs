//! Not yet begun.
