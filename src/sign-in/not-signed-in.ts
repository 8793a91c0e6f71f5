import { AppError } from "../errors.ts";

/** What a caller reads whose request needs a session and has none that goes on. */
export const NOT_SIGNED_IN =
	"you are not signed in, or your session has ended; sign in";

/** The error of such a request. */
export const notSignedIn = () => new AppError("unauthorized", NOT_SIGNED_IN);
