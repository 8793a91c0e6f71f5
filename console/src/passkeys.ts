import {
	browserSupportsWebAuthn,
	browserSupportsWebAuthnAutofill,
	startAuthentication,
	startRegistration,
	WebAuthnAbortService,
} from "@simplewebauthn/browser";
import { ApiError, request, withProof } from "./api.ts";

type SignOptions = Parameters<typeof startAuthentication>[0]["optionsJSON"];
type MakeOptions = Parameters<typeof startRegistration>[0]["optionsJSON"];

export interface AddedPasskey {
	id: string;
	name: string;
	can_sign_in: boolean;
}

/** The factors besides the password that the user can give. */
export interface Factors {
	app: boolean;
	passkeys: number;
}

/** True if this browser can use passkeys. It cannot over plain HTTP, except on localhost. */
export const hasPasskeySupport = (): boolean => browserSupportsWebAuthn();

/** Asks for a passkey, in a window of the browser, and signs in with it. */
export const signInWithPasskey = (): Promise<unknown> =>
	useOne("sign-in-options", "sign-in");

/** Gives a passkey as the second factor after the password. */
export const giveSecondFactor = (): Promise<unknown> =>
	useOne("second-factor-options", "second-factor");

/** Confirms that the owner of the account uses this session. */
export const proveWithPasskey = (): Promise<unknown> =>
	useOne("proof-options", "prove");

/** Switches two-factor authentication on after `beginTwoFactor`. */
export const enableTwoFactorWithPasskey = (): Promise<unknown> =>
	useOne("second-factor-options", "enable-two-factor");

export const listFactors = (): Promise<Factors> =>
	request<Factors>("/api/auth/two-factor/factors");

/** Lets the browser make a passkey, and stores it under this name. */
export async function addPasskey(name: string): Promise<AddedPasskey> {
	const optionsJSON = await withProof(() =>
		post<MakeOptions>("registration-options"),
	);
	const passkey = await startRegistration({ optionsJSON }).catch(explain);
	return post<AddedPasskey>("register", { ...(name && { name }), passkey });
}

/** Longest time for which the page waits with one challenge, which lives for five minutes. */
const REFRESH_MS = 4 * 60_000;

/**
 * Offers passkeys in the list that the browser shows under the field for the address, until the
 * returned function is called. Calls `onDone` after a sign-in, and `onError` if the service refuses
 * the passkey.
 */
export function offerPasskeys(
	onDone: () => void,
	onError: (error: unknown) => void,
): () => void {
	let isOver = false;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const offer = async (): Promise<void> => {
		if (!(await browserSupportsWebAuthnAutofill()) || isOver) return;
		const optionsJSON = await post<SignOptions>("sign-in-options");
		if (isOver) return;
		timer = setTimeout(() => void again(), REFRESH_MS);
		const passkey = await startAuthentication({
			optionsJSON,
			useBrowserAutofill: true,
		}).catch(() => undefined);
		// Another use of a passkey on this page, or a new challenge, has replaced this one.
		if (!passkey || isOver) return;
		clearTimeout(timer);
		try {
			await post("sign-in", passkey);
			onDone();
		} catch (error) {
			onError(error);
			await offer();
		}
	};
	// Without an offer the page still has its button, so a failure needs no message.
	const again = () => offer().catch(() => {});
	void again();
	return () => {
		isOver = true;
		clearTimeout(timer);
		WebAuthnAbortService.cancelCeremony();
	};
}

async function useOne(options: string, path: string): Promise<unknown> {
	const optionsJSON = await post<SignOptions>(options);
	const passkey = await startAuthentication({ optionsJSON }).catch(explain);
	return post(path, passkey);
}

/** Throws the error of the browser in words. Browsers do not say whether the user cancelled. */
function explain(error: unknown): never {
	const { name } = error as Error;
	const message =
		name === "InvalidStateError"
			? "This device has a passkey for your account already."
			: name === "NotAllowedError" || name === "AbortError"
				? "No passkey was used. You cancelled, it took too long, or this device has no passkey for this service."
				: "This browser or device cannot use the passkey. Try another one.";
	throw new ApiError(400, "no_passkey", message);
}

async function post<Result>(path: string, body: object = {}): Promise<Result> {
	return request<Result>(`/api/auth/passkey/${path}`, { body });
}
