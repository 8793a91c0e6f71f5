import { queryOptions } from "@tanstack/react-query";
import { ApiError, request } from "../../api.ts";

/** What the address of the second factor gives when it is begun. */
export interface Begun {
	/** otpauth://totp/…, with the key. */
	totpURI: string;
	/** They count once the first code was right. */
	backupCodes: string[];
}

export function changePassword(input: {
	password: string;
	new_password: string;
	ends_others: boolean;
}): Promise<unknown> {
	return send("change-password", {
		currentPassword: input.password,
		newPassword: input.new_password,
		revokeOtherSessions: input.ends_others,
	});
}

export function beginTwoFactor(password: string): Promise<Begun> {
	return send("two-factor/enable", { password });
}

/** The first right code switches the second factor on. */
export function confirmTwoFactor(code: string): Promise<unknown> {
	return send("two-factor/verify-totp", { code });
}

export function disableTwoFactor(password: string): Promise<unknown> {
	return send("two-factor/disable", { password });
}

/** New recovery codes, in place of all before them. */
export async function renewRecoveryCodes(password: string): Promise<string[]> {
	const answer = await send<{ backupCodes: string[] }>(
		"two-factor/generate-backup-codes",
		{ password },
	);
	return answer.backupCodes;
}

/** How many of one's recovery codes were not used yet; its key begins with what it is. */
export const recoveryCodesLeftQuery = queryOptions({
	queryKey: ["recoveryCodesLeft"],
	queryFn: ({ signal }) =>
		request<{ left: number }>("/api/auth/two-factor/recovery-codes-left", {
			signal,
		}),
});

const WRONG: Record<string, { field: string; message: string }> = {
	INVALID_PASSWORD: {
		field: "password",
		message: "This is not your current password",
	},
	PASSWORD_TOO_SHORT: {
		field: "new_password",
		message: "Use at least 12 characters",
	},
	PASSWORD_TOO_LONG: {
		field: "new_password",
		message: "Use at most 128 characters",
	},
	INVALID_CODE: {
		field: "code",
		message:
			"This code is wrong, expired or already used. Enter the next code from the app.",
	},
};

/** Refusals that say in words what is wrong with it. */
const NEW_PASSWORD = new Set(["SAME_PASSWORD", "WEAK_PASSWORD"]);

/**
 * Refusals of better-auth in the shape of our own: beside the field they are about. A wrong
 * code is 401 there, which elsewhere means that the session has ended.
 */
async function send<Result>(path: string, body: object): Promise<Result> {
	try {
		return await request<Result>(`/api/auth/${path}`, { body });
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const wrong = NEW_PASSWORD.has(error.code)
			? { field: "new_password", message: error.message }
			: WRONG[error.code];
		if (!wrong) throw error;
		throw new ApiError(400, "bad_request", wrong.message, [wrong]);
	}
}
