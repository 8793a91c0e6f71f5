import {
	Alert,
	Anchor,
	Button,
	Divider,
	Stack,
	Text,
	TextInput,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api.ts";
import { signIn, verifyCode } from "../../auth.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { PresentPasswordInput } from "../../parts/password-fields.tsx";
import { hasPasskeySupport, listFactors } from "../../passkeys.ts";
import { queryClient } from "../../queries.ts";
import { Card } from "./card.tsx";
import { setupQuery, signInWaysQuery } from "./link.ts";
import { PasskeyButton, PasskeyStep } from "./passkey.tsx";
import { CompanySignIn, ProviderButton, problemInWords } from "./provider.tsx";

/** Signs a user in: password, passkey, identity provider, and second factor. */
export function Page() {
	const [step, setStep] = useState<"password" | "code">("password");
	const { to } = useSearch({ from: "/sign-in" });
	const navigate = useNavigate();
	const enter = async () => {
		// The cache may contain data that another user has loaded in this browser.
		queryClient.clear();
		await navigate({ href: ownAddress(to), replace: true });
	};
	return (
		<Card>
			{step === "password" ? (
				<PasswordStep
					onEnter={() => void enter()}
					onDone={(outcome) =>
						outcome === "signed-in" ? void enter() : setStep("code")
					}
				/>
			) : (
				<SecondStep
					onDone={() => void enter()}
					onBack={() => setStep("password")}
				/>
			)}
		</Card>
	);
}

function PasswordStep({
	onEnter,
	onDone,
}: {
	/** Called when somebody has signed in with a passkey. */
	onEnter: () => void;
	onDone: (outcome: Awaited<ReturnType<typeof signIn>>) => void;
}) {
	const { ended, problem, to, why } = useSearch({ from: "/sign-in" });
	const ways = useQuery(signInWaysQuery);
	const [showsForm, setShowsForm] = useState(false);
	const form = useForm({
		mode: "uncontrolled",
		initialValues: { email: "", password: "" },
		validate: {
			email: (text) => (text.trim() ? null : "Enter your e-mail address."),
			password: (text) => (text ? null : "Enter your password."),
		},
	});
	const signingIn = useMutation({
		mutationFn: ({ email, password }: { email: string; password: string }) =>
			signIn(email.trim(), password),
		onSuccess: onDone,
	});
	// Nothing jumps while the ways are asked for: most services have passwords for everybody.
	const { provider, has_company_providers, has_passwords, has_passkeys } =
		ways.data ?? {
			provider: null,
			has_company_providers: false,
			has_passwords: true,
			has_passkeys: false,
		};
	const hasForm = has_passwords || showsForm;
	return (
		<form
			onSubmit={form.onSubmit((values) => signingIn.mutate(values))}
			noValidate
		>
			<PageHeader title="Sign in" />
			<Stack>
				<SetupNeeded />
				{problem !== undefined && signingIn.isIdle && (
					<Alert
						variant="outline"
						color="red"
						role="alert"
						title={
							problem.endsWith("_SIGNED_IN_THERE")
								? "You have been signed out of Assay"
								: "You are not signed in"
						}
					>
						{problemInWords(problem, why)}
					</Alert>
				)}
				{ended && !problem && !signingIn.isError && (
					<Alert variant="outline" title="You have been signed out">
						Your session has expired or was ended elsewhere. Sign in to continue
						where you were.
					</Alert>
				)}
				{signingIn.isError && (
					<ErrorState
						title="You are not signed in"
						error={explain(
							signingIn.error,
							"The e-mail address or the password is wrong.",
						)}
					/>
				)}
				{provider && <ProviderButton provider={provider} to={to} />}
				{has_company_providers && (
					<CompanySignIn to={to} email={() => form.getValues().email} />
				)}
				{!hasForm ? (
					<Anchor
						component="button"
						type="button"
						size="sm"
						onClick={() => setShowsForm(true)}
					>
						Sign in with an emergency password
					</Anchor>
				) : (
					<>
						{(provider || has_company_providers) && (
							<Divider label="or with a password" />
						)}
						<TextInput
							label="E-mail address"
							type="email"
							name="email"
							autoComplete="username webauthn"
							autoFocus
							key={form.key("email")}
							{...form.getInputProps("email")}
						/>
						<PresentPasswordInput
							key={form.key("password")}
							{...form.getInputProps("password")}
						/>
						<Button
							type="submit"
							loading={signingIn.isPending}
							{...(provider && { variant: "default" })}
						>
							Sign in
						</Button>
						{has_passkeys && <PasskeyButton onDone={onEnter} />}
						<TextLink to="/forgot-password" size="sm" ta="center">
							Forgot your password?
						</TextLink>
					</>
				)}
			</Stack>
		</form>
	);
}

/**
 * Says that the service has to be set up first, because nobody can sign in before the first account
 * exists.
 */
function SetupNeeded() {
	const setup = useQuery(setupQuery);
	if (!setup.data?.setup_needed) return null;
	return (
		<Alert variant="outline" title="Nobody has an account yet">
			Open the setup link that the service printed when it started.{" "}
			<TextLink to="/setup" underline="always" fz="inherit">
				How to get one
			</TextLink>
		</Alert>
	);
}

/** Asks for the second factor: a passkey if the user has one, and otherwise a code. */
function SecondStep({
	onDone,
	onBack,
}: {
	onDone: () => void;
	onBack: () => void;
}) {
	const factors = useQuery({
		queryKey: ["factors"],
		queryFn: listFactors,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
	});
	const [chosen, setChosen] = useState<"passkey" | "code" | null>(null);
	if (factors.isPending) return <PageSkeleton />;
	// If the question fails, a code still works.
	const { app, passkeys } = factors.data ?? { app: true, passkeys: 0 };
	const hasPasskey = passkeys > 0 && hasPasskeySupport();
	const step = chosen ?? (hasPasskey ? "passkey" : "code");
	if (step === "code") {
		return (
			<CodeStep
				hasApp={app}
				onDone={onDone}
				onBack={onBack}
				{...(hasPasskey && { onPasskey: () => setChosen("passkey") })}
			/>
		);
	}
	return (
		<>
			<PageHeader title="Second factor" />
			<Stack>
				<PasskeyStep onDone={onDone} />
				<Anchor
					component="button"
					type="button"
					size="sm"
					onClick={() => setChosen("code")}
				>
					{app ? "Use a code instead" : "Use a recovery code instead"}
				</Anchor>
				<Anchor component="button" type="button" size="sm" onClick={onBack}>
					Sign in as somebody else
				</Anchor>
			</Stack>
		</>
	);
}

function CodeStep({
	hasApp,
	onDone,
	onBack,
	onPasskey,
}: {
	/** False if only recovery codes work. */
	hasApp: boolean;
	/** Goes to the passkeys of the user. Absent if there are none. */
	onPasskey?: () => void;
	onDone: () => void;
	onBack: () => void;
}) {
	const [kind, setKind] = useState<"totp" | "recovery">(
		hasApp ? "totp" : "recovery",
	);
	const [code, setCode] = useState("");
	const verifying = useMutation({
		mutationFn: () =>
			verifyCode(
				kind,
				kind === "totp" ? code.replaceAll(/\D/g, "") : code.trim(),
			),
		onSuccess: onDone,
	});
	const change = () => {
		setKind(kind === "totp" ? "recovery" : "totp");
		setCode("");
		verifying.reset();
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (code.trim()) verifying.mutate();
			}}
		>
			<PageHeader title="Two-factor code" />
			<Stack>
				{verifying.isError && (
					<ErrorState
						title="You are not signed in yet"
						error={explainCode(
							verifying.error,
							kind === "totp"
								? "This code is wrong, expired or already used. Enter the next code from your authenticator app."
								: "This recovery code is wrong or already used.",
						)}
					/>
				)}
				<Text size="sm">
					{kind === "totp"
						? "Enter the six digits that your authenticator app shows."
						: "Enter one of your recovery codes. Each works once."}
				</Text>
				<TextInput
					key={kind}
					label={kind === "totp" ? "Code" : "Recovery code"}
					inputMode={kind === "totp" ? "numeric" : "text"}
					autoComplete={kind === "totp" ? "one-time-code" : "off"}
					autoFocus
					required
					withAsterisk={false}
					value={code}
					onChange={(event) => setCode(event.currentTarget.value)}
				/>
				<Button type="submit" loading={verifying.isPending}>
					Continue
				</Button>
				{hasApp && (
					<Anchor component="button" type="button" size="sm" onClick={change}>
						{kind === "totp"
							? "Use a recovery code instead"
							: "Use the authenticator app instead"}
					</Anchor>
				)}
				{onPasskey && (
					<Anchor
						component="button"
						type="button"
						size="sm"
						onClick={onPasskey}
					>
						Use a passkey instead
					</Anchor>
				)}
				<Anchor component="button" type="button" size="sm" onClick={onBack}>
					Sign in as somebody else
				</Anchor>
			</Stack>
		</form>
	);
}

/**
 * Returns the same message whether the account does not exist or the password is wrong, so that
 * nobody can find out which addresses have accounts.
 */
function explain(error: unknown, wrong: string): unknown {
	const isWrong =
		error instanceof ApiError && (error.status === 401 || error.status === 400);
	return isWrong ? new ApiError(error.status, error.code, wrong) : error;
}

/**
 * Explains why a code was rejected. The user can correct a wrong code, but must sign in again if
 * too much time has passed.
 */
function explainCode(error: unknown, wrong: string): unknown {
	const isTooLate =
		error instanceof ApiError && error.code === "INVALID_TWO_FACTOR_COOKIE";
	return isTooLate
		? new ApiError(
				error.status,
				error.code,
				"The sign-in timed out. Start again with your password.",
			)
		: explain(error, wrong);
}

/**
 * Returns the address that the visitor wanted to open. It is always an address of this service,
 * never of another host.
 */
function ownAddress(to: string | undefined): string {
	const url = URL.parse(to ?? "/", location.origin);
	return url?.origin === location.origin
		? `/${url.pathname.replace(/^\/+/, "")}${url.search}${url.hash}`
		: "/";
}
