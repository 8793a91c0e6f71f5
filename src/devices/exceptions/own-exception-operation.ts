import { z } from "zod";
import { defineOperation } from "../../operation.ts";
import { findPersonOf } from "../../organizations/person-of-member.ts";
import {
	filledTextSchema,
	idSchema,
	timeSchema,
} from "../../records/text-schemas.ts";
import { checkKeySchema } from "../device-record.ts";
import { noteException } from "./exception-changes.ts";
import {
	deviceException,
	eventData,
	readException,
} from "./exception-record.ts";
import { rejectDevice, requireMayAsk } from "./own-exception.ts";
import { requestException } from "./request-exception.ts";

/**
 * Lets everybody who may sign in ask for an own device, as the page My devices does. Needs a
 * session, so neither an API token nor a connected AI client of a viewer can write (decision 0059).
 */
export const requestOwnDeviceException = defineOperation({
	name: "requestOwnDeviceException",
	title: "Ask for an exception for your device",
	description:
		"Ask that one of your own devices be excused from a check that it does not pass. It counts once an administrator approves it.",
	toolset: "exceptions",
	surface: "console",
	access: "read",
	isReadOnly: false,
	tenant: "device_id",
	input: z.strictObject({
		device_id: idSchema("device"),
		check_key: checkKeySchema(),
		reason: filledTextSchema().describe("Why, and what is done instead"),
		ends_at: timeSchema(),
	}),
	output: z.object({ device_exception: deviceException }),
	run: async (context, { check_key, ...wanted }) => {
		const { client, membership, principal } = context;
		const { organizationId } = membership;
		const { userId, name } = principal;
		const personId =
			(await findPersonOf(client, organizationId, userId)) ?? rejectDevice();
		await requireMayAsk(
			client,
			{ organizationId, personId, userId },
			{ device_id: wanted.device_id, check_key },
		);
		const id = await requestException(
			client,
			organizationId,
			{ ...wanted, check: check_key },
			{ userId, name },
		);
		const added = await readException(context, id);
		noteException(context, undefined, added);
		context.happened({
			type: "exception.requested",
			record_id: id,
			data: eventData(added),
		});
		return { device_exception: added };
	},
});
