import { request } from "./api.ts";

export interface Me {
	id: string;
	name: string;
	email: string;
	twoFactorEnabled: boolean;
}

/** Returns the user who is signed in in this browser, or null. */
export async function getMe(): Promise<Me | null> {
	const session = await request<{ user: Me } | null>("/api/auth/get-session");
	return session?.user ?? null;
}

/**
 * Signs in. Returns "second-step" if the account also requires a code. Throws ApiError with status
 * 401 or 429.
 */
export async function signIn(
	email: string,
	password: string,
): Promise<"signed-in" | "second-step"> {
	const answer = await request<{ twoFactorRedirect?: boolean }>(
		"/api/auth/sign-in/email",
		{ body: { email, password } },
	);
	return answer.twoFactorRedirect ? "second-step" : "signed-in";
}

/** Completes the second step, with six digits from the authenticator or with a recovery code. */
export function verifyCode(
	kind: "totp" | "recovery",
	code: string,
): Promise<unknown> {
	const path = kind === "totp" ? "verify-totp" : "verify-backup-code";
	return request(`/api/auth/two-factor/${path}`, { body: { code } });
}

export function signOut(): Promise<unknown> {
	return request("/api/auth/sign-out", { body: {} });
}
