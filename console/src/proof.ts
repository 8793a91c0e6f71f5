/**
 * Asks the user for the password again. Returns true if the password was right, and false if the
 * user cancels. The dialog registers its function here, so that every call to the server can use
 * it.
 */
type Ask = () => Promise<boolean>;

let ask: Ask | undefined;

export function setProofDialog(dialog: Ask | undefined): void {
	ask = dialog;
}

const CHANNEL = "assay-proof";

/** Tells the other tabs of this browser that the user has confirmed with the identity provider. */
export function tellConfirmed(): void {
	const channel = new BroadcastChannel(CHANNEL);
	channel.postMessage("confirmed");
	channel.close();
}

/** Calls `done` when the user has confirmed in another tab. Returns a function that stops it. */
export function onConfirmed(done: () => void): () => void {
	const channel = new BroadcastChannel(CHANNEL);
	channel.onmessage = done;
	return () => channel.close();
}

export function askForProof(): Promise<boolean> {
	return ask ? ask() : Promise.resolve(false);
}
