import { betterAuth } from "better-auth";
import { twoFactor } from "better-auth/plugins/two-factor";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { ADDRESS_HEADER } from "./address-header.ts";
import { cookiePrefix } from "./cookies.ts";
import { hashPassword, isOutdated, isPasswordOf } from "./password-hash.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "./password-rules.ts";
import { makeRecoveryCodes } from "./recovery-codes.ts";
import { makeIdentityId } from "./users.ts";

export interface AuthParts {
	/** Connects as assay_identity. */
	pool: Pool;
	baseUrl: string;
	secret: string;
	log: Logger;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const times = { createdAt: "created_at", updatedAt: "updated_at" };

/**
 * Returns better-auth, set up for our tables (sql/0003_identity.sql). It knows who somebody is and
 * nothing else. Accounts come from invitations and the command line, so nobody can sign up. Our own
 * routes throttle attempts, because better-auth can only limit them per address and not per
 * account.
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
		// Rejects with the error instead of answering 500.
		onAPIError: { throw: true },
		logger: {
			level: "warn",
			log: (level, message) => {
				// Skips requests that were rejected with a 4xx status. Anybody can cause these messages,
				// and those of the first kind repeat what was sent.
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
			// A user who stays away for a week is signed out. A visit prolongs the session, and this is
			// written at most once an hour. The list of sessions is therefore exact to the hour.
			expiresIn: 7 * DAY_SECONDS,
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
			// This option would put __Secure- before the name.
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
				// The schema is ours and tested. Validating it would slow down the first sign-in.
				validateSchema: false,
			},
		},
	});
}

/**
 * Returns true if the password has this hash. A hash with a lower cost than today's is computed
 * again at the same time, and also for a wrong password. Otherwise a faster response to a wrong
 * password would reveal that the account exists.
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
