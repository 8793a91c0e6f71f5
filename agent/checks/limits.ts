/**
 * The longest time without input after which a screen must be locked, any grace included (PCI DSS
 * 8.2.8).
 */
export const MAX_IDLE_SECONDS = 15 * 60;

/**
 * The shortest password a policy may allow (NIST SP 800-63B, which asks for no kinds of
 * characters).
 */
export const MIN_PASSWORD_LENGTH = 8;
