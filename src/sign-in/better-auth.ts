import { betterAuth } from "better-auth";
import { twoFactor } from "better-auth/plugins/two-factor";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { ADDRESS_HEADER } from "./address-header.ts";
import { cookiePrefix } from "./cookies.ts";
import { hashPassword, isOutdated, isPasswordOf } from "./password-hash.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "./password-length.ts";
import { makeRecoveryCodes } from "./recovery-codes.ts";
import { SESSION_DAYS } from "./session-lifetime.ts";
import { makeIdentityId } from "./users.ts";

export interface AuthParts {
	/** A pool that acts as assay_identity. */
	pool: Pool;
	baseUrl: string;
	secret: string;
	/** The secret that was used before, which second factors may still be encrypted with. */
	previousSecret?: string | undefined;
	log: Logger;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const times = { createdAt: "created_at", updatedAt: "updated_at" };

/**
 * Returns better-auth, set up for our tables (sql/0003_identity.sql). We use better-auth only to
 * find out who somebody is. Accounts come from invitations and the command line, so nobody can sign
 * up. Our own routes throttle attempts, because better-auth can limit them only per network address
 * and not per account.
 */
export function makeAuth({ pool, baseUrl, secret, log }: AuthParts) {
	const isSecure = baseUrl.startsWith("https:");
	return betterAuth({
		appName: "Assay",
		baseURL: baseUrl,
		basePath: "/api/auth",
		trustedOrigins: [baseUrl],
		secret,
		database: pool,
		telemetry: { enabled: false },
		rateLimit: { enabled: false },
		// The option makes better-auth's calls reject with the error instead of answering 500.
		onAPIError: { throw: true },
		logger: {
			level: "warn",
			log: (level, message) => {
				// Does not log requests that better-auth rejected with a 4xx status. Anybody can cause
				// these messages, and those that begin with "Invalid" repeat what the client sent.
				if (/^(Invalid [^:]+: |Blocked )/.test(message)) return;
				log[level === "error" ? "error" : "debug"](message);
			},
		},
		emailAndPassword: {
			enabled: true,
			disableSignUp: true,
			minPasswordLength: MIN_PASSWORD,
			maxPasswordLength: MAX_PASSWORD,
			password: {
				hash: hashPassword,
				verify: ({ hash, password }) =>
					verifyAndRenew(pool, log, hash, password),
			},
		},
		session: {
			modelName: "sessions",
			fields: {
				...times,
				userId: "user_id",
				expiresAt: "expires_at",
				ipAddress: "ip_address",
				userAgent: "user_agent",
			},
			additionalFields: {
				// The issuer that vouched for the user. Null: the user gave a password.
				provider: { type: "string", required: false, input: false },
				identityProviderId: {
					type: "string",
					required: false,
					input: false,
					fieldName: "identity_provider_id",
				},
			},
			// A user who stays away for a week is signed out. Each visit prolongs the session, but the
			// new time is stored at most once an hour. The times in the list of sessions are therefore
			// exact only to the hour.
			expiresIn: SESSION_DAYS * DAY_SECONDS,
			updateAge: HOUR_SECONDS,
		},
		user: {
			modelName: "users",
			fields: { ...times, emailVerified: "email_verified" },
		},
		account: {
			modelName: "accounts",
			fields: {
				...times,
				userId: "user_id",
				accountId: "account_id",
				providerId: "provider_id",
				accessToken: "access_token",
				refreshToken: "refresh_token",
				idToken: "id_token",
				accessTokenExpiresAt: "access_token_expires_at",
				refreshTokenExpiresAt: "refresh_token_expires_at",
			},
		},
		verification: {
			modelName: "verifications",
			fields: { ...times, expiresAt: "expires_at" },
		},
		plugins: [
			twoFactor({
				issuer: "Assay",
				backupCodeOptions: { customBackupCodesGenerate: makeRecoveryCodes },
				accountLockout: {
					enabled: true,
					maxFailedAttempts: 10,
					durationSeconds: 15 * 60,
				},
				schema: {
					user: { fields: { twoFactorEnabled: "two_factor_enabled" } },
					twoFactor: {
						modelName: "two_factors",
						fields: {
							userId: "user_id",
							backupCodes: "backup_codes",
							failedVerificationCount: "failed_verification_count",
							lockedUntil: "locked_until",
						},
					},
				},
			}),
		],
		advanced: {
			cookiePrefix: cookiePrefix(baseUrl),
			// The option would put `__Secure-` before each name, and our names already begin with
			// `__Host-`.
			useSecureCookies: false,
			defaultCookieAttributes: {
				sameSite: "strict",
				httpOnly: true,
				secure: isSecure,
				path: "/",
			},
			ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
			database: {
				generateId: ({ model }) => makeIdentityId(model),
				// Our tests check the schema. Validating it here would slow down the first sign-in.
				validateSchema: false,
			},
		},
	});
}

/**
 * Returns true if `hash` is a hash of the password. If the hash was made with another cost than
 * today's, a new hash is computed at the same time, even when the password is wrong. Otherwise a
 * wrong password would be answered faster, which would reveal that the account exists.
 */
async function verifyAndRenew(
	pool: Pool,
	log: Logger,
	hash: string,
	password: string,
): Promise<boolean> {
	if (!isOutdated(hash)) return isPasswordOf(hash, password);
	const [isRight, renewed] = await Promise.all([
		isPasswordOf(hash, password),
		hashPassword(password),
	]);
	if (isRight) {
		await pool
			.query("update accounts set password = $1 where password = $2", [
				renewed,
				hash,
			])
			.catch((err) =>
				log.warn({ err }, "could not renew the hash of a password"),
			);
	}
	return isRight;
}
