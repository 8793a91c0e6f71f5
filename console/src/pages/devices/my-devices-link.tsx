import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { CopyField } from "../../parts/copy-field.tsx";
import {
	countDevices,
	type Device,
} from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { LocalAddressNote } from "../../parts/local-address-note.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import {
	SaveOnceButtons,
	SaveOnceModal,
	useSaveOnce,
} from "../../parts/save-once.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, forgotPasswordQuery } from "../../queries.ts";

/** Mails the owner of a device the link to their own devices, or shows it for copying. */
export function MyDevicesLink({
	device,
	title = "Send the owner a link to their devices",
	onClose,
}: {
	device: Device;
	title?: string;
	onClose: () => void;
}) {
	useReturnFocus();
	const { data: mail } = useQuery(forgotPasswordQuery);
	const sending = useMutation({
		mutationFn: async () => {
			const { people } = await call("sendMyDevicesLinks", {
				organization_id: device.organization_id,
				device_ids: [device.id],
			});
			await forgetReadings();
			notifications.show({
				message:
					people.length === 1
						? `A link is on its way to ${people[0]?.full_name}.`
						: "No link was sent, because the device has no owner or is revoked.",
			});
		},
		onSuccess: onClose,
	});
	const copying = useMutation({
		mutationFn: () =>
			call("copyMyDevicesLink", {
				organization_id: device.organization_id,
				device_id: device.id,
			}),
		onSuccess: () => forgetReadings(),
	});
	const made = copying.data;
	const once = useSaveOnce(made?.link, onClose);
	return (
		<SaveOnceModal once={once} size="lg" title={title}>
			<Stack>
				{(sending.error ?? copying.error) && (
					<ErrorState
						error={sending.error ?? copying.error}
						title="There is no link"
					/>
				)}
				{made ? (
					<>
						<Text size="sm">
							Give this link to {made.full_name} only. It works once, until{" "}
							<DateTime value={made.expires_at} />. It is shown only now.
						</Text>
						<LocalAddressNote address={made.link} />
						<CopyField label="Link" value={made.link} />
						<SaveOnceButtons
							secrets="link"
							consequence="Nobody can show it again. You would have to make another one."
							once={once}
						/>
					</>
				) : (
					<Text size="sm">
						The link shows people their own devices, what fails and how to fix
						it, without an account. You could open a link that you copy.
						Requests for exceptions that come through it are therefore marked,
						and another administrator approves them if there is one.
						{mail?.sends_mail === false &&
							" This service has no mail server, so pass the link on yourself."}
					</Text>
				)}
				{!made && (
					<Group justify="flex-end">
						<Button
							variant="default"
							disabled={once.isWaiting}
							onClick={once.leave}
						>
							Cancel
						</Button>
						<Button
							variant={mail?.sends_mail ? "default" : "filled"}
							loading={copying.isPending}
							onClick={() => copying.mutate()}
						>
							Make a link to copy
						</Button>
						{mail?.sends_mail && (
							<Button
								loading={sending.isPending}
								onClick={() => sending.mutate()}
							>
								Mail the link
							</Button>
						)}
					</Group>
				)}
			</Stack>
		</SaveOnceModal>
	);
}

/** Mails links to the owners of devices. Returns to how many people, and how many got none. */
export async function requestLinks(
	organizationId: string,
	ids: readonly string[],
): Promise<{ changed: number; unchanged: number }> {
	const { people, skipped } = await call("sendMyDevicesLinks", {
		organization_id: organizationId,
		device_ids: [...ids],
	});
	return { changed: people.length, unchanged: skipped.length };
}

/** Says how many links are on their way. */
export function linksInWords(people: number, skipped: number): string {
	const to =
		people === 0
			? "No link was sent."
			: people === 1
				? "A link is on its way to 1 person."
				: `Links are on their way to ${people.toLocaleString()} people.`;
	return skipped === 0
		? to
		: `${to} ${countDevices(skipped)} ${skipped === 1 ? "has no owner or is" : "have no owner or are"} revoked.`;
}
