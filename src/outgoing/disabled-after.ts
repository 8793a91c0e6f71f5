/** Days without a success after which a receiver is disabled: a webhook, or a channel to a chat. */
export const DISABLED_AFTER_DAYS = 3;
