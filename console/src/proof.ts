/**
 * Asks the user for the password again and returns true when it was right, false when the user
 * cancels. The dialog that is on the page registers itself here, so that any call can ask.
 */
type Ask = () => Promise<boolean>;

let ask: Ask | undefined;

export function setProofDialog(dialog: Ask | undefined): void {
	ask = dialog;
}

export function askForProof(): Promise<boolean> {
	return ask ? ask() : Promise.resolve(false);
}
