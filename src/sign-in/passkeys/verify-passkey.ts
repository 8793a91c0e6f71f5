import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import type { Exchange } from "../exchange.ts";
import { countAttempt, QUARTER } from "../sign-in-throttle.ts";
import { isOwnChallenge, type Purpose } from "./challenge.ts";
import { findPasskey, noteUse, type Passkey } from "./passkey-store.ts";
import { relyingPartyId } from "./relying-party.ts";

const base64url = (maxLength: number) =>
	z
		.string()
		.max(maxLength)
		.regex(/^[\w-]*$/);

const assertion = z.object({
	id: base64url(1_400),
	rawId: base64url(1_400),
	type: z.literal("public-key"),
	response: z.object({
		clientDataJSON: base64url(4_000),
		authenticatorData: base64url(4_000),
		signature: base64url(8_000),
		userHandle: base64url(100).nullish(),
	}),
});

/** Loaded with the first passkey, because it needs 100 ms that most processes never spend. */
export const loadWebauthn = () => import("@simplewebauthn/server");

/**
 * Checks that the browser's authenticator has signed a challenge of ours with a passkey of the
 * user. `userId` undefined means any user. Returns undefined if anything is wrong, and logs why on
 * the level "debug", because anybody can send anything here.
 */
export async function verifyPasskey(
	{ parts, headers, body }: Exchange,
	{
		purpose,
		subject,
		userId,
		mustVerifyUser,
	}: {
		purpose: Purpose;
		subject: string;
		userId?: string;
		/** True if the authenticator must have checked a PIN or a fingerprint. */
		mustVerifyUser: boolean;
	},
): Promise<Passkey | undefined> {
	const { pool, baseUrl, log } = parts;
	const rpId = relyingPartyId(baseUrl);
	const given = assertion.safeParse(body);
	if (!given.success || rpId === undefined) return undefined;
	const passkey = await findPasskey(pool, given.data.id, rpId);
	if (!passkey || (userId !== undefined && passkey.userId !== userId)) {
		return undefined;
	}
	const { userHandle } = given.data.response;
	if (
		userHandle &&
		Buffer.from(userHandle, "base64url").toString() !== passkey.userId
	) {
		return undefined;
	}
	const { verifyAuthenticationResponse } = await loadWebauthn();
	let challenge = "";
	const verified = await verifyAuthenticationResponse({
		response: {
			...given.data,
			clientExtensionResults: {},
		} as AuthenticationResponseJSON,
		expectedChallenge: (sent) => {
			challenge = sent;
			return isOwnChallenge(parts, headers, purpose, subject, sent);
		},
		expectedOrigin: new URL(baseUrl).origin,
		expectedRPID: rpId,
		requireUserVerification: mustVerifyUser,
		credential: {
			id: passkey.credentialId.toString("base64url"),
			publicKey: passkey.publicKey,
			// `noteUse` compares the counts, so that of two requests at the same time only one passes.
			counter: 0,
		},
	}).catch((error: Error) => {
		log.debug({ reason: error.message }, "a passkey was refused");
		return undefined;
	});
	if (!verified?.verified) return undefined;
	if (!(await claimChallenge(parts, challenge))) return undefined;
	const { newCounter, credentialBackedUp } = verified.authenticationInfo;
	if (await noteUse(pool, passkey.id, newCounter, credentialBackedUp)) {
		return passkey;
	}
	log.warn(
		{
			event: "passkey_counter_regressed",
			passkey: passkey.id,
			stored: passkey.counter,
			sent: newCounter,
		},
		"a passkey was refused, because its count of signatures has not grown; somebody may have copied it",
	);
	return undefined;
}

/**
 * Returns true for the first use of a challenge whose signature was right. Only an owner of a
 * passkey gets this far, so strangers store nothing. The row outlives the challenge.
 */
export async function claimChallenge(
	{ pool }: Pick<Exchange["parts"], "pool">,
	challenge: string,
): Promise<boolean> {
	const { waitSeconds } = await countAttempt(pool, `passkey ${challenge}`, {
		allowed: 1,
		window: QUARTER,
	});
	return waitSeconds === 0;
}
