import { queryOptions } from "@tanstack/react-query";
import {
	MAX_PASSWORD,
	MIN_PASSWORD,
} from "../../../../src/sign-in/password-length.ts";
import { ApiError, call, request } from "../../api.ts";

/** The response to the request that begins the set-up of two-factor authentication. */
export interface Begun {
	/** The address of the form otpauth://totp/…, which contains the key. */
	totpURI: string;
	/** The recovery codes. They become valid when the user enters the first correct code. */
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

/** Revokes these API tokens. The list may be empty. */
export async function revokeTokens(ids: string[]): Promise<void> {
	if (ids.length > 0) await call("revokeApiTokens", { ids });
}

/** Confirms that the user of this session knows the password. */
export function verifyPassword(password: string): Promise<unknown> {
	return send("verify-password", { password });
}

/** Confirms that the user of this session has the authenticator app or a recovery code. */
export function verifyCode(code: string): Promise<unknown> {
	const digits = code.replaceAll(/\s/g, "");
	return /^\d{6}$/.test(digits)
		? confirmTwoFactor(digits)
		: send("two-factor/verify-backup-code", { code: code.trim() });
}

export function beginTwoFactor(password: string): Promise<Begun> {
	return send("two-factor/enable", { password });
}

/**
 * Sends a code from the authenticator. The first correct code turns on two-factor authentication. A
 * correct code also confirms the identity of the signed-in user.
 */
export function confirmTwoFactor(code: string): Promise<unknown> {
	return send("two-factor/verify-totp", { code });
}

export function disableTwoFactor(password: string): Promise<unknown> {
	return send("two-factor/disable", { password });
}

/** Generates new recovery codes, which replace all earlier ones. */
export async function renewRecoveryCodes(password: string): Promise<string[]> {
	const answer = await send<{ backupCodes: string[] }>(
		"two-factor/generate-backup-codes",
		{ password },
	);
	return answer.backupCodes;
}

/** Asks how many recovery codes the user has not used yet. */
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
		message: "This is not your current password.",
	},
	PASSWORD_TOO_SHORT: {
		field: "new_password",
		message: `Use at least ${MIN_PASSWORD} characters.`,
	},
	PASSWORD_TOO_LONG: {
		field: "new_password",
		message: `Use at most ${MAX_PASSWORD} characters.`,
	},
	INVALID_BACKUP_CODE: {
		field: "code",
		message: "This recovery code is wrong or already used.",
	},
	INVALID_CODE: {
		field: "code",
		message:
			"This code is wrong, expired or already used. Enter the next code from the app.",
	},
};

/** Errors whose message already says what is wrong with the field. */
const NEW_PASSWORD = new Set(["SAME_PASSWORD", "WEAK_PASSWORD"]);

/**
 * Sends a request to better-auth and gives its errors the shape of our own, beside the field that
 * each one concerns. better-auth answers a wrong code with 401, which elsewhere means that the
 * session has ended.
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
