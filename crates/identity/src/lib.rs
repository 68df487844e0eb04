//! Who somebody is to a tenant.
