/**
 * The longest time without input after which a screen must be locked, including any grace period
 * (PCI DSS 8.2.8).
 */
export const MAX_IDLE_SECONDS = 15 * 60;

/**
 * The smallest minimum length that a password policy may have. It comes from NIST SP 800-63B, which
 * does not require particular kinds of characters.
 */
export const MIN_PASSWORD_LENGTH = 8;
