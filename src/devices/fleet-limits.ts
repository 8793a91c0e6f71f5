/** Most devices of one call. Each of them gets an audit entry. */
export const MAX_DEVICES_OF_CALL = 500;
