import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { MyDevices } from "../../../../src/my-devices/page.ts";
import { ApiError, request } from "../../api.ts";
import { setTimeZone } from "../../parts/days.ts";
import { namesApart } from "../../parts/devices/device-name.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgotPasswordQuery, queryClient } from "../../queries.ts";
import { Brand } from "../../shell/brand.tsx";
import { Card } from "../sign-in/card.tsx";
import { useLinkToken } from "../sign-in/link.ts";
import { Message } from "../sign-in/message.tsx";
import { DeviceSection, isToFix } from "./device-section.tsx";
import { MY_DEVICES_KEY } from "./query-key.ts";
import { WhatIsCollected } from "./what-is-collected.tsx";

/** Names who helps a reader without a link, because the page does not know the organization. */
const SECURITY = "the people who look after security in your organization";

/** Returns the data of the page, or null if no page is open in this browser. */
async function read(signal: AbortSignal): Promise<MyDevices | null> {
	try {
		return await request<MyDevices>("/api/my-devices", { signal });
	} catch (error) {
		// The console would otherwise ask the reader to sign in, and they have no account.
		if (error instanceof ApiError && error.status === 401) return null;
		throw error;
	}
}

/**
 * Shows people their own devices. A link opens the page, and only its button uses the link up,
 * because programs that scan mails open links too.
 */
export function Page() {
	const inAddress = useLinkToken();
	const navigate = useNavigate();
	// After the button was pressed, the address has no token any more.
	const [token] = useState(inAddress);
	const [isClosed, setIsClosed] = useState(false);
	const isWaiting = inAddress !== "";
	const found = useQuery({
		queryKey: MY_DEVICES_KEY,
		queryFn: ({ signal }) => read(signal),
		enabled: !isWaiting && !isClosed,
	});
	const opening = useMutation({
		mutationFn: () =>
			request("/api/my-devices/open", { body: { token: inAddress } }),
		onSuccess: () => {
			queryClient.removeQueries({ queryKey: MY_DEVICES_KEY });
			return navigate({ to: "/my-devices", hash: "", replace: true });
		},
	});
	const closing = useMutation({
		mutationFn: () => request("/api/my-devices/close", { body: {} }),
		onSuccess: () => {
			setIsClosed(true);
			queryClient.removeQueries({ queryKey: MY_DEVICES_KEY });
		},
	});
	if (isWaiting) {
		return (
			<Card>
				<PageHeader title="Your devices" />
				{isUsedUp(opening.error) ? (
					<NewLink token={inAddress}>
						This link no longer works. It was used before, or it has expired.
					</NewLink>
				) : (
					<Stack>
						<Text>
							See how your devices are secured, what has to be fixed, and how.
						</Text>
						{opening.isError && (
							<ErrorState
								error={opening.error}
								title="The page was not opened"
							/>
						)}
						<Button
							loading={opening.isPending}
							onClick={() => opening.mutate()}
						>
							Show my devices
						</Button>
					</Stack>
				)}
			</Card>
		);
	}
	if (isClosed) {
		return (
			<Card>
				<Message title="This page is closed">
					To see your devices again, open your link once more. That page says
					how you get a new one.
				</Message>
			</Card>
		);
	}
	if (found.isPending) {
		return (
			<Card>
				<PageSkeleton />
			</Card>
		);
	}
	if (found.isError) {
		return (
			<Card>
				<PageHeader title="Your devices" />
				<ErrorState error={found.error} onRetry={found.refetch} />
			</Card>
		);
	}
	if (!found.data) {
		return (
			<Card>
				<PageHeader title="Your devices" />
				{token ? (
					<NewLink token={token}>This page has closed by itself.</NewLink>
				) : (
					<Stack>
						<Text>
							Open the link to your devices that was sent to you, even if you
							have used it before. If you have lost it, ask {SECURITY} for a new
							one.
						</Text>
						<Text>If you have an account of Assay, sign in instead.</Text>
						<ButtonLink to="/sign-in" variant="default">
							Sign in
						</ButtonLink>
					</Stack>
				)}
			</Card>
		);
	}
	return (
		<Frame>
			<Devices
				data={found.data}
				isClosing={closing.isPending}
				onClose={() => closing.mutate()}
			/>
		</Frame>
	);
}

function isUsedUp(error: unknown): boolean {
	return error instanceof ApiError && error.status === 400;
}

function Frame({ children }: { children: React.ReactNode }) {
	return (
		<Stack component="main" maw={760} mx="auto" p="md" pb={64} gap="lg">
			<Brand size={28} isAlone />
			{children}
		</Stack>
	);
}

/**
 * Offers to mail a new link, or says whom to ask if the service cannot send mails. The message
 * afterwards is the same for every link.
 */
function NewLink({
	token,
	children,
}: {
	token: string;
	children: React.ReactNode;
}) {
	const asking = useMutation({
		mutationFn: () => request("/api/my-devices/new-link", { body: { token } }),
	});
	const mail = useQuery(forgotPasswordQuery);
	if (mail.data?.sends_mail === false) {
		return (
			<Stack>
				<Text>{children}</Text>
				<Text>To get a new link, ask {SECURITY}.</Text>
			</Stack>
		);
	}
	return (
		<Stack>
			<Text>{children}</Text>
			{asking.isError && (
				<ErrorState error={asking.error} title="No mail was sent" />
			)}
			{asking.isSuccess ? (
				<Text role="status">
					If this link was yours, a new one is on its way to the same e-mail
					address. If no mail arrives, wait a quarter of an hour before you try
					again.
				</Text>
			) : (
				<Button
					loading={asking.isPending || mail.isPending}
					onClick={() => asking.mutate()}
				>
					Mail me a new link
				</Button>
			)}
		</Stack>
	);
}

function Devices({
	data,
	isClosing,
	onClose,
}: {
	data: MyDevices;
	isClosing: boolean;
	onClose: () => void;
}) {
	const { devices, organization_name, person_name, session_ends_at } = data;
	// The parts below format days while they render, so this cannot wait for an effect.
	setTimeZone(data.time_zone);
	const names = namesApart(devices);
	// Stable, so each part stays in the order of the names.
	const toFixFirst = devices.toSorted(
		(a, b) => Number(isToFix(b)) - Number(isToFix(a)),
	);
	return (
		<>
			<div>
				<PageHeader
					title="Your devices"
					description={
						<>
							{person_name}, {organization_name}. This page is open until{" "}
							<DateTime value={session_ends_at} />.
						</>
					}
					actions={
						<Button variant="default" loading={isClosing} onClick={onClose}>
							Close this page
						</Button>
					}
				/>
				{data.is_copied_link && (
					<Alert
						color="gray"
						variant="outline"
						title="An administrator passed this link on to you"
					>
						An exception that you ask for here says so. If there is another
						administrator, the one who copied the link may not approve it.
					</Alert>
				)}
			</div>
			{devices.length === 0 && (
				<Text>No device belongs to you at the moment.</Text>
			)}
			{toFixFirst.map((device) => (
				<DeviceSection
					key={device.id}
					device={device}
					name={names.get(device.id) ?? ""}
				/>
			))}
			{data.has_more_devices && (
				<Text size="sm">
					You have more devices. The page shows the first {devices.length}.
				</Text>
			)}
			<WhatIsCollected />
			<Group>
				<Text size="sm" c="dimmed">
					Questions? Ask the people who look after security at{" "}
					{organization_name}.
				</Text>
			</Group>
		</>
	);
}
