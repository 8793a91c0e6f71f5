import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { AppError, badFields } from "../../errors.ts";
import { nameSchema } from "../../records/text-schemas.ts";
import { parseInput } from "../../validation.ts";
import { deviceWords } from "../browser-words.ts";
import { type Exchange, type Step, userIdOf } from "../exchange.ts";
import { FRESH_MINUTES, needsProof } from "../fresh-proof.ts";
import { mayUsePassword } from "../password-sign-in.ts";
import { findUser, makeIdentityId } from "../users.ts";
import { isOwnChallenge, makeChallenge } from "./challenge.ts";
import { mailNewPasskey } from "./new-passkey-mail.ts";
import { requireRelyingParty, withCookie } from "./options.ts";
import { listCredentials, MAX_PASSKEYS } from "./passkey-store.ts";
import { refusedPasskey } from "./sign-in-with-passkey.ts";
import { claimChallenge, loadWebauthn } from "./verify-passkey.ts";

const MAX_NAME = 100;
/**
 * EdDSA, ES256 and RS256, the most preferred first (IANA COSE algorithms). The library would also
 * look for ML-DSA, and Node then prints a warning that it is experimental.
 */
const ALGORITHMS = [-8, -7, -257];

const input = z.object({
	name: nameSchema(MAX_NAME).optional(),
	passkey: z.object({
		id: z.string().max(1_400),
		rawId: z.string().max(1_400),
		type: z.literal("public-key"),
		response: z.object({
			clientDataJSON: z.string().max(4_000),
			attestationObject: z.string().max(12_000),
			transports: z.array(z.string().max(30)).max(10).optional(),
		}),
		clientExtensionResults: z
			.object({
				credProps: z.object({ rk: z.boolean().optional() }).optional(),
			})
			.optional(),
	}),
});

/** Throws forbidden, with the field "proof", unless the session's user has just proved to be it. */
export const requireProofOfSession: Step = async ({ parts, subject }) => {
	const { rows } = await parts.pool.query<{ is_fresh: boolean }>(
		`select proved_at > now() - interval '${FRESH_MINUTES} minutes' as is_fresh
		from sessions where id = $1`,
		[subject.sessionId],
	);
	if (!rows[0]?.is_fresh) throw needsProof();
};

/**
 * Throws forbidden for an account that signs in only with the identity provider. Such an account
 * would keep a way in when the provider no longer lets its user in.
 */
export const requirePasswordAccount: Step = async (exchange) => {
	const { pool } = exchange.parts;
	const user = await findUser(pool, { id: userIdOf(exchange) });
	const { rows } = await pool.query<{ has_password: boolean }>(
		"select exists (select from accounts where user_id = $1 and password is not null) as has_password",
		[userIdOf(exchange)],
	);
	if (
		rows[0]?.has_password &&
		user &&
		mayUsePassword(exchange.parts, user.email)
	) {
		return;
	}
	throw new AppError(
		"forbidden",
		`you sign in with ${exchange.parts.providerName ?? "the identity provider"}, which has passkeys of its own; only accounts with a password have passkeys here`,
	);
};

/** Returns options for making a passkey of the session's user. */
export async function registrationOptions(
	exchange: Exchange,
): Promise<Response> {
	const { parts, headers, subject } = exchange;
	const userId = userIdOf(exchange);
	const rpId = requireRelyingParty(parts.baseUrl);
	const user = await findUser(parts.pool, { id: userId });
	const known = await listCredentials(parts.pool, userId, rpId);
	if (!user) throw new Error("the session's user does not exist");
	if (known.length >= MAX_PASSKEYS) throw tooMany();
	const { generateRegistrationOptions } = await loadWebauthn();
	const { challenge, cookie } = makeChallenge(
		parts,
		headers,
		"register",
		subject.sessionId ?? "",
	);
	return withCookie(
		await generateRegistrationOptions({
			rpName: "Assay",
			rpID: rpId,
			userID: Buffer.from(userId),
			userName: user.email,
			userDisplayName: user.name,
			challenge,
			attestationType: "none",
			supportedAlgorithmIDs: ALGORITHMS,
			excludeCredentials: known,
			authenticatorSelection: {
				residentKey: "preferred",
				userVerification: "preferred",
			},
		}),
		cookie,
	);
}

/** Stores a passkey that the browser has made. Returns {id, name, can_sign_in}. */
export async function addPasskey(exchange: Exchange): Promise<Response> {
	const { parts, headers, subject } = exchange;
	const userId = userIdOf(exchange);
	const rpId = requireRelyingParty(parts.baseUrl);
	const { name, passkey } = parseInput(input, exchange.body);
	const { verifyRegistrationResponse } = await loadWebauthn();
	let challenge = "";
	const verified = await verifyRegistrationResponse({
		response: {
			...passkey,
			clientExtensionResults: {},
		} as RegistrationResponseJSON,
		expectedChallenge: (sent) => {
			challenge = sent;
			return isOwnChallenge(
				parts,
				headers,
				"register",
				subject.sessionId ?? "",
				sent,
			);
		},
		expectedOrigin: new URL(parts.baseUrl).origin,
		expectedRPID: rpId,
		requireUserVerification: false,
		supportedAlgorithmIDs: ALGORITHMS,
	}).catch((error: Error) => {
		parts.log.debug({ reason: error.message }, "a new passkey was refused");
		return undefined;
	});
	if (!verified?.verified || !(await claimChallenge(parts, challenge))) {
		return refusedPasskey(400);
	}
	const { credential, userVerified, credentialBackedUp } =
		verified.registrationInfo;
	const given =
		name ?? deviceWords(headers.get("user-agent")).slice(0, MAX_NAME);
	const isStored = passkey.clientExtensionResults?.credProps?.rk !== false;
	const { rows } = await parts.pool.query<{ id: string; can_sign_in: boolean }>(
		`insert into passkeys (
			id, user_id, rp_id, credential_id, public_key, counter, transports, name, can_sign_in, is_synced
		)
		select $1, $2::text, $3, $4::bytea, $5::bytea, $6::bigint, $7::text[], $8, $9::boolean, $10::boolean
		where (select count(*) from passkeys where user_id = $2::text) < ${MAX_PASSKEYS}
		on conflict (credential_id) do nothing
		returning id, can_sign_in`,
		[
			makeIdentityId("passkey"),
			userId,
			rpId,
			Buffer.from(credential.id, "base64url"),
			Buffer.from(credential.publicKey),
			credential.counter,
			passkey.response.transports ?? [],
			given,
			userVerified && isStored,
			credentialBackedUp,
		],
	);
	if (!rows[0]) throw tooMany();
	await mailNewPasskey(parts, userId);
	return Response.json({ ...rows[0], name: given });
}

function tooMany(): AppError {
	return badFields([
		{
			field: "passkey",
			message: `is on an account already, or your account has ${MAX_PASSKEYS} passkeys, which is the maximum; remove one first`,
		},
	]);
}
