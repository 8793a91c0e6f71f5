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
	/** As assay_identity. */
	pool: Pool;
	baseUrl: string;
	secret: string;
	log: Logger;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const times = { createdAt: "created_at", updatedAt: "updated_at" };

/**
 * better-auth over our tables (sql/0003_identity.sql): who somebody is, nothing else.
 * Accounts come from invitations and the command line, so signing up is closed. Attempts
 * are throttled by the door, per account; its own limit is per address.
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
		// Rejects with what went wrong instead of answering 500 to it.
		onAPIError: { throw: true },
		logger: {
			level: "warn",
			log: (level, message) => {
				// Refusals of what anybody may send, answered 4xx. The first kind repeats what was sent.
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
			// A week without a visit signs out; a visit prolongs, written once an hour at most: that
			// is how exactly the list of sessions says when one was last seen.
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
			// It would put __Secure- before the name.
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
				// The schema is ours and tested; looking it over would cost the first sign-in.
				validateSchema: false,
			},
		},
	});
}

/**
 * Returns true if the password has this hash. A hash of a lower cost than today's is computed again
 * meanwhile, also for a wrong password. A faster response to a wrong one would reveal that the
 * account exists.
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
				log.warn({ err }, "a password is still hashed as before"),
			);
	}
	return isRight;
}
