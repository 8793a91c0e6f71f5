import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { z } from "zod";
import { stopMails, stopUrl } from "../notifications/stop-link.ts";
import { parseInput } from "../validation.ts";
import { MAX_STRANGERS_BODY } from "./admission.ts";

const PATH = "/api/stop-mails";

const input = z.strictObject({ token: z.string().max(200) });
const pageInput = input.extend({ is_stopped: z.boolean() });

/** Bytes of the body that a mail program sends. Its content says nothing new. */
const MAX_ONE_CLICK = 1024;

/**
 * Adds the routes that stop mails. The token in the link is the proof.
 *
 *     POST /api/stop-mails?token=…  from a mail program, with the body of RFC 8058; stops the mails
 *     GET  /api/stop-mails?token=…  from a mail program without one-click; leads to the page
 *     POST /api/stop-mails/choice   {token, is_stopped} from the page
 */
export function addStopMails(
	app: FastifyInstance,
	parts: {
		appPool: Pool;
		baseUrl: string;
		secret: string;
		previousSecret?: string | undefined;
	},
): void {
	const { appPool, baseUrl, secret, previousSecret } = parts;
	const secrets = [secret, ...(previousSecret ? [previousSecret] : [])];

	app.register((scope, _options, done) => {
		for (const type of [
			"application/x-www-form-urlencoded",
			/^multipart\/form-data/,
		]) {
			scope.addContentTypeParser(
				type,
				{ parseAs: "buffer", bodyLimit: MAX_ONE_CLICK },
				(_request, _body, parsed) => parsed(null, undefined),
			);
		}
		scope.post(
			PATH,
			{ bodyLimit: MAX_ONE_CLICK, config: { admits: "visitor" } },
			async (request) => {
				const { token } = parseInput(input, request.query ?? {});
				return stopMails(appPool, secrets, token, true);
			},
		);
		done();
	});

	app.get(PATH, { config: { admits: "visitor" } }, async (request, reply) => {
		const { token } = parseInput(input, request.query ?? {});
		return reply.redirect(stopUrl(baseUrl, encodeURIComponent(token)));
	});

	app.post(
		`${PATH}/choice`,
		{ bodyLimit: MAX_STRANGERS_BODY, config: { admits: "page" } },
		async (request) => {
			const { token, is_stopped } = parseInput(pageInput, request.body ?? {});
			return stopMails(appPool, secrets, token, is_stopped);
		},
	);
}
