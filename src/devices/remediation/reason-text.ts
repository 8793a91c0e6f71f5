/** The meaning of a reason, and advice if somebody can do something about it. */
export interface ReasonText {
	/** Half a sentence that says why the check has no verdict. */
	says: string;
	/** Names in braces stand for limits, which `withLimits` puts in. */
	fix?: string;
}

export const LOOK_AGAIN =
	"You need not do anything at first. If the reason remains for a day, restart the device.";
