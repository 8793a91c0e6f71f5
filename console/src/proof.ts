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

export function askForProof(): Promise<boolean> {
	return ask ? ask() : Promise.resolve(false);
}
