import { Button, Group, List, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { forgetReadings } from "../../queries.ts";
import { EnrollmentSteps, TOKEN_WORDS } from "./enrollment-steps.tsx";
import { DEFAULT_DAYS, TokenDays } from "./token-days.tsx";

/** Explains what a new token does, issues it, and waits until the device has used it. */
export function ReissueToken({
	device,
	onClose,
}: {
	device: Device;
	onClose: () => void;
}) {
	const [days, setDays] = useState(DEFAULT_DAYS);
	useReturnFocus();
	const reissuing = useMutation({
		mutationFn: () =>
			call("reissueEnrollmentToken", {
				id: device.id,
				enrollment_token_expires_in_days: days,
			}),
		onSuccess: () => forgetReadings(),
	});
	const once = useSaveOnce(reissuing.data?.enrollment_token, onClose);
	return (
		<SaveOnceModal
			once={once}
			size={reissuing.isSuccess ? "xl" : "md"}
			title={
				reissuing.isSuccess
					? `Enroll ${deviceName(device)}`
					: "Reissue the enrollment token?"
			}
		>
			{reissuing.isSuccess ? (
				<Stack>
					<EnrollmentSteps issued={reissuing.data} once={once} />
					<SaveOnceButtons {...TOKEN_WORDS} once={once} />
				</Stack>
			) : (
				<Stack>
					{reissuing.isError && (
						<ErrorState
							error={reissuing.error}
							title="The token was not reissued"
						/>
					)}
					<Text size="sm">
						Use this when you reinstall the agent, when the token expired, or
						when the device comes back into service.
					</Text>
					<List size="sm" spacing={4}>
						<List.Item>Any earlier token stops working.</List.Item>
						{device.status === "ACTIVE" && (
							<List.Item>
								The device keeps reporting with its current key until the new
								token is used.
							</List.Item>
						)}
						{device.status === "REVOKED" && (
							<List.Item>The device becomes pending again.</List.Item>
						)}
						{device.awaits_approval && (
							<List.Item>
								The device waits for approval. A new token does not approve it:
								its reports count only after an administrator has.
							</List.Item>
						)}
						<List.Item>Its history continues.</List.Item>
					</List>
					<TokenDays value={days} onChange={setDays} />
					<Group justify="flex-end">
						<Button
							variant="default"
							disabled={once.isWaiting}
							onClick={once.leave}
							data-autofocus
						>
							Cancel
						</Button>
						<Button
							loading={reissuing.isPending}
							onClick={() => reissuing.mutate()}
						>
							Reissue the token
						</Button>
					</Group>
				</Stack>
			)}
		</SaveOnceModal>
	);
}
