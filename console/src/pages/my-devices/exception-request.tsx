import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { MyCheck, MyDevice } from "../../../../src/my-devices/page.ts";
import { request } from "../../api.ts";
import { endOfDay } from "../../parts/days.ts";
import { AskException } from "../../parts/devices/ask-exception.tsx";
import {
	ExceptionEnd,
	UntilExceptionEnd,
} from "../../parts/devices/exception-end.tsx";
import { DateTime } from "../../parts/time.tsx";
import { queryClient } from "../../queries.ts";
import { checkLabel } from "../devices/checks.ts";
import { MY_DEVICES_KEY } from "./query-key.ts";

/** States in which the reader can ask for an exception. */
const CAN_ASK = ["FAILING", "IN_GRACE", "UNKNOWN"];

/** Says what became of an exception, and offers to ask for one where it makes sense. */
export function ExceptionOf({
	device,
	check,
}: {
	device: MyDevice;
	check: MyCheck;
}) {
	const [isAsking, setIsAsking] = useState(false);
	const status = check.exception?.status;
	const isOpen = status === "REQUESTED" || status === "SCHEDULED";
	const canAsk = !isOpen && check.state && CAN_ASK.includes(check.state);
	return (
		<>
			<Decision check={check} />
			{canAsk && (
				<Button
					variant="default"
					size="compact-md"
					style={{ alignSelf: "flex-start" }}
					aria-label={`Ask for an exception: ${checkLabel(check.check_key)}`}
					onClick={() => setIsAsking(true)}
				>
					Ask for an exception
				</Button>
			)}
			{isAsking && (
				<AskException
					checkKey={check.check_key}
					device={device.name ?? "this device"}
					ask={(reason, day) =>
						request("/api/my-devices/request-exception", {
							body: {
								device_id: device.id,
								check_key: check.check_key,
								reason,
								ends_at: new Date(
									Date.parse(endOfDay(day)) - 1000,
								).toISOString(),
							},
						})
					}
					onAsked={() =>
						queryClient.invalidateQueries({ queryKey: MY_DEVICES_KEY })
					}
					onClose={() => setIsAsking(false)}
				/>
			)}
		</>
	);
}

function Decision({ check }: { check: MyCheck }) {
	const { exception, excepted_until } = check;
	if (check.state === "EXCEPTED" && excepted_until) {
		return (
			<Text size="sm">
				An exception was approved. It ends on{" "}
				<ExceptionEnd value={excepted_until} />.
			</Text>
		);
	}
	if (!exception) return null;
	const { status, requested_at, ends_at, reason } = exception;
	return (
		<Stack gap={2}>
			<Text size="sm">
				{status === "REQUESTED" && (
					<>
						An exception was requested on <DateTime value={requested_at} />,{" "}
						<UntilExceptionEnd value={ends_at} />. It counts once an
						administrator approves it.
					</>
				)}
				{(status === "SCHEDULED" || status === "IN_FORCE") && (
					<>
						An exception was approved. It ends on{" "}
						<ExceptionEnd value={ends_at} />.
					</>
				)}
				{status === "REJECTED" && (
					<>
						An administrator did not approve the exception that was requested on{" "}
						<DateTime value={requested_at} />.
					</>
				)}
			</Text>
			{reason && (
				<Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
					Your reason: {reason}
				</Text>
			)}
		</Stack>
	);
}
