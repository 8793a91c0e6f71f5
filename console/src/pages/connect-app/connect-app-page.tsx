import {
	Alert,
	Anchor,
	Button,
	Center,
	Group,
	Paper,
	Select,
	Stack,
	Text,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asSentence, call, type InputOf, request } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { useSaving } from "../../parts/use-saving.ts";
import {
	closedOrganizationsQuery,
	meQuery,
	organizationsQuery,
} from "../../queries.ts";
import { Brand } from "../../shell/brand.tsx";
import { ProofDialog } from "../../shell/proof-dialog.tsx";
import { SignInWays } from "../../shell/sign-in-ways.tsx";
import { ScopeFields, scopesOf, unlimited } from "../settings/scope-fields.tsx";

/** What the service says about an authorization request. */
type Asked =
	| {
			/** What is wrong with the request. `redirect_to` tells it to the program. */
			message: string;
			redirect_to: string;
			redirect_host: string;
			app?: undefined;
	  }
	| {
			app: {
				name: string;
				/** The host that vouches for the app. Null if the app registered itself. */
				host: string | null;
				redirect_host: string;
				is_read_only: boolean;
			};
			deny_to: string;
			redirect_to?: undefined;
	  };

type Parameters = Omit<
	InputOf<"allowApp">,
	"read_only" | "organization_ids" | "toolsets" | "expires_in_days"
>;

const LIVES = [
	{ value: "1", label: "1 day" },
	{ value: "30", label: "30 days" },
	{ value: "90", label: "90 days" },
	{ value: "365", label: "a year" },
];

/** The parameters stand after the #, where no program between the browser and this page reads them. */
function readParameters(): Parameters {
	const given = Object.fromEntries(
		new URLSearchParams(window.location.hash.slice(1)),
	);
	return { client_id: "", ...given };
}

/** Asks the user whether a program may act for them, and within which limits (OAuth 2.1). */
export function Page() {
	const [parameters] = useState(readParameters);
	const asked = useQuery({
		queryKey: ["connect-app", parameters],
		queryFn: () => request<Asked>("/api/oauth/request", { body: parameters }),
		retry: false,
		staleTime: Number.POSITIVE_INFINITY,
	});
	return (
		<Center component="main" mih="100dvh" p="md">
			<Stack w="100%" maw={520}>
				<Brand size={28} isAlone />
				<Paper withBorder p="lg">
					{asked.isPending && <PageSkeleton />}
					{asked.isError && (
						<>
							<PageHeader title="This program cannot be connected" />
							<ErrorState
								error={asked.error}
								title="The request is not valid"
							/>
						</>
					)}
					{asked.data?.redirect_to !== undefined && <Refused {...asked.data} />}
					{asked.data?.app && (
						<Consent
							parameters={parameters}
							app={asked.data.app}
							denyTo={asked.data.deny_to}
						/>
					)}
				</Paper>
			</Stack>
			<ProofDialog />
		</Center>
	);
}

/** Says what is wrong with the request. The visitor decides whether to go back to the program. */
function Refused({
	message,
	redirect_to,
	redirect_host,
}: {
	message: string;
	redirect_to: string;
	redirect_host: string;
}) {
	return (
		<>
			<PageHeader title="This program cannot be connected" />
			<Stack>
				<Text>The program sent an invalid request: {message}.</Text>
				<Text size="sm">
					To tell the program, go back to <strong>{redirect_host}</strong>.
				</Text>
				<Anchor href={redirect_to} size="sm">
					Go back
				</Anchor>
			</Stack>
		</>
	);
}

/** Names the organizations in which the program will act. */
function Reached({ chosen }: { chosen: readonly string[] }) {
	const { data: organizations = [] } = useQuery(organizationsQuery);
	const names = organizations
		.filter(({ id }) => chosen.length === 0 || chosen.includes(id))
		.map(({ name }) => name);
	if (names.length === 0) return null;
	return (
		<Text size="sm">
			The program reaches <strong>{names.join(", ")}</strong>.
		</Text>
	);
}

/**
 * Says which organizations the program does not reach, because they are closed for this session. A
 * sign-in with the identity provider of one leads back to this request.
 */
function OutOfReach() {
	const { data = [] } = useQuery(closedOrganizationsQuery);
	const closed = data.filter(({ why }) => why !== "ENDED");
	const to = window.location.pathname + window.location.hash;
	return closed.map(({ id, message, why, sign_in_ways }) => (
		<Alert
			key={id}
			color="yellow"
			variant="outline"
			title="The program does not reach all your organizations"
		>
			<Stack gap="xs" align="flex-start">
				<Text size="sm">{asSentence(message)}</Text>
				<SignInWays ways={sign_in_ways} to={to} />
				{why === "SESSION" && (
					<ButtonLink to="/sign-in" search={{ to }}>
						Sign in again
					</ButtonLink>
				)}
			</Stack>
		</Alert>
	));
}

function Consent({
	parameters,
	app,
	denyTo,
}: {
	parameters: Parameters;
	app: NonNullable<Asked["app"]>;
	denyTo: string;
}) {
	const { data: me } = useQuery(meQuery);
	const form = useForm({
		initialValues: {
			...unlimited,
			read_only: app.is_read_only,
			expires_in_days: "90",
		},
	});
	const saving = useSaving(
		form,
		({ expires_in_days, ...scopes }) =>
			call("allowApp", {
				...parameters,
				...scopesOf(scopes),
				expires_in_days: Number(expires_in_days),
			}),
		({ redirect_to }) => window.location.assign(redirect_to),
	);
	return (
		<form noValidate onSubmit={saving.submit}>
			<PageHeader title={`Connect ${app.name}?`} />
			<Stack>
				{saving.refusal && (
					<ErrorState
						error={saving.refusal}
						title="The program was not connected"
					/>
				)}
				<Text>
					{app.name} asks to read {app.is_read_only ? "" : "and change "}records
					for you
					{me ? ` (${me.email})` : ""}, with your role in each organization. You
					can set narrower limits here, and end it at any time under Settings,
					API tokens.
				</Text>
				{app.host === null ? (
					<Alert
						color="yellow"
						variant="outline"
						title="Nobody vouches for this name"
					>
						The program chose the name itself. Continue only if you have just
						begun this in the program.
					</Alert>
				) : (
					<Text size="sm">
						The name comes from <strong>{app.host}</strong>.
					</Text>
				)}
				<Text size="sm">
					Your browser then returns to <strong>{app.redirect_host}</strong>.
				</Text>
				<Reached chosen={form.values.organization_ids} />
				<OutOfReach />
				<ScopeFields form={form} />
				<Select
					label="For how long"
					description="After that, the program must ask you again."
					allowDeselect={false}
					data={LIVES}
					{...form.getInputProps("expires_in_days")}
				/>
				<Group justify="flex-end">
					<Anchor href={denyTo} size="sm" mr="auto">
						Do not allow it
					</Anchor>
					<Button type="submit" loading={saving.isSaving}>
						Allow
					</Button>
				</Group>
			</Stack>
		</form>
	);
}
