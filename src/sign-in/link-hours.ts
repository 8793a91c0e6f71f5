/** Hours for which a link that sets a new password works. `add_password_reset` in sql/ has them too. */
export const RESET_LINK_HOURS = 24;

/** Hours for which a setup link works. `add_setup_link` in sql/ sets them. */
export const SETUP_LINK_HOURS = 24;
