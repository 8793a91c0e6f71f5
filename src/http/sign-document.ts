import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Pool } from "pg";
import { z } from "zod";
import { readToSign, signByLink } from "../documents/sign-link.ts";
import { AppError } from "../errors.ts";
import { FairShares } from "../load/fair-shares.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import type { From } from "../sign-in/exchange.ts";
import { parseInput } from "../validation.ts";
import { MAX_STRANGERS_BODY } from "./admission.ts";

const PATH = "/api/sign-document";

const linkInput = z.strictObject({ token: z.string().max(200) });
const signInput = linkInput.extend({ content_hash: z.string().max(64) });

/** Calls of one network at the same time. */
const CALLS = { running: 4, waiting: 60, name: "calls from your address" };

/**
 * Adds the routes of the page on which a person without an account reads and signs a version of a
 * document. The token of the link in the mail is the proof.
 *
 *     POST /api/sign-document/read  {token} → see ToSign; 400 if the link cannot be used
 *     POST /api/sign-document/sign  {token, content_hash} → the same; 409 if it names another text
 */
export function addSignDocument(
	app: FastifyInstance,
	parts: {
		appPool: Pool;
		secret: string;
		previousSecret?: string | undefined;
	},
	fromOf: (request: FastifyRequest) => From,
): void {
	const { appPool } = parts;
	const ofNetworks = new FairShares(CALLS);
	const networkOfRequest = (request: FastifyRequest) =>
		networkOf(fromOf(request).address ?? "");
	const options = {
		bodyLimit: MAX_STRANGERS_BODY,
		config: { admits: "page" },
		onRequest: async (request: FastifyRequest) => {
			const why = ofNetworks.whyFull(networkOfRequest(request));
			if (why) throw new AppError("service_unavailable", why);
		},
	} as const;

	app.post(`${PATH}/read`, options, async (request) => {
		const { token } = parseInput(linkInput, request.body ?? {});
		return ofNetworks.run(networkOfRequest(request), () =>
			readToSign(appPool, parts, token),
		);
	});

	app.post(`${PATH}/sign`, options, async (request) => {
		const { token, content_hash: contentHash } = parseInput(
			signInput,
			request.body ?? {},
		);
		return ofNetworks.run(networkOfRequest(request), () =>
			signByLink(appPool, parts, { token, contentHash }, fromOf(request)),
		);
	});
}
