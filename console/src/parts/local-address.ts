/** Returns true if only the computer that runs the service reaches it by this address. */
export function isLocal(address: string): boolean {
	return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(address).hostname);
}
