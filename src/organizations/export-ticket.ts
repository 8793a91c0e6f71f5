import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { packageScope } from "../audit-package/scope.ts";

/** A browser begins the download at once. */
const VALID_MS = 120_000;

/** Path at which the console downloads exports. */
export const EXPORT_PATH = "/api/console/organization-file";

const common = { organizationId: z.string(), userId: z.string() };
const ticketOfOrganization = z.object({
	...common,
	leavesOut: z.array(z.enum(["files", "reports"])),
	/** Public key of age for which the file is encrypted. */
	recipient: z.string().optional(),
});
export type TicketOfOrganization = z.output<typeof ticketOfOrganization>;
const ticketOfPackage = z.object({ ...common, auditPackage: packageScope });
const contents = z.union([ticketOfPackage, ticketOfOrganization]);

/**
 * The permission to download one export, which an administrator has just asked for: of the
 * organization, or of an audit package.
 */
export type ExportTicket = z.output<typeof contents>;
const signed = z.intersection(contents, z.object({ endsAt: z.number() }));

/**
 * Returns the text of a ticket. The signature proves that the service made it, so every process
 * accepts it and nothing has to be stored.
 */
export function makeExportTicket(secret: string, ticket: ExportTicket): string {
	const endsAt = Date.now() + VALID_MS;
	const body = Buffer.from(JSON.stringify({ ...ticket, endsAt }));
	const text = body.toString("base64url");
	return `${text}.${signatureOf(secret, text)}`;
}

/** Returns undefined if the service has not made the ticket, or if its time is over. */
export function readExportTicket(
	secret: string,
	ticket: string,
): ExportTicket | undefined {
	const [text = "", signature = ""] = ticket.split(".");
	const given = Buffer.from(signature);
	const right = Buffer.from(signatureOf(secret, text));
	if (given.length !== right.length || !timingSafeEqual(given, right)) {
		return undefined;
	}
	const body = Buffer.from(text, "base64url").toString("utf8");
	const { endsAt, ...found } = signed.parse(JSON.parse(body));
	return endsAt > Date.now() ? found : undefined;
}

function signatureOf(secret: string, text: string): string {
	return createHmac("sha256", secret)
		.update(`export an organization ${text}`)
		.digest("base64url");
}
