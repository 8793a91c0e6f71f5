import { AppError } from "../errors.ts";

/** Message for a request that needs a session and has none, or one that has ended. */
export const NOT_SIGNED_IN =
	"you are not signed in, or your session has ended; sign in";

/** The error of such a request. */
export const notSignedIn = () => new AppError("unauthorized", NOT_SIGNED_IN);
