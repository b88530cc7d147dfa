import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.io.OutputStreamWriter;
import java.net.Socket;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a lock under locksim: Locksim.run(config -> new MyLock(config)), in the main thread.
 *
 * It needs no library: lines of the protocol are short, and their values are read by patterns.
 */
public final class Locksim {
	/** A lock. Other exceptions than Refused leave open what the servers have done. */
	public interface Lock {
		/** Acquires the lock; waitMillis is for how long at most, 0 for once, negative for forever. */
		Lease acquire(long waitMillis) throws Exception;

		void release() throws Exception;
	}

	/** What is known of a lease: its value, "" if unknown; its fencing token, 0 if there is none; how long it lasts, 0 if unknown. */
	public record Lease(String value, long token, long ttlMillis) {}

	/** It is certain that the lock is not held. */
	public static final class Refused extends Exception {
		public Refused(String why) { super(why); }
	}

	/** What the lock is to use. */
	public record Config(String client, List<String> servers, String key, long ttlMillis) {}

	public interface Open {
		Lock open(Config config) throws Exception;
	}

	private final Writer out;
	private final BufferedReader in;

	private Locksim() throws IOException {
		String[] address = System.getenv("LOCKSIM").split(":");
		Socket socket = new Socket(address[0], Integer.parseInt(address[1]));
		out = new OutputStreamWriter(socket.getOutputStream(), "UTF-8");
		in = new BufferedReader(new InputStreamReader(socket.getInputStream(), "UTF-8"));
	}

	public static void run(Open open) throws Exception {
		Locksim l = new Locksim();
		l.say("ready", "");
		String config = l.in.readLine();
		String servers = text(config, "\"servers\":\\[(.*?)\\]", "");
		Lock lock = open.open(new Config(text(config, "\"client\":\"(.*?)\"", ""), List.of(servers.replace("\"", "").split(",")),
				text(config, "\"key\":\"(.*?)\"", ""), number(config, "ttl_ms", 0)));
		for (String asked; (asked = l.in.readLine()) != null && !asked.contains("\"word\":\"done\"");) {
			try {
				if (asked.contains("\"word\":\"start\"")) {
					Lease lease = lock.acquire(number(asked, "wait_ms", -1));
					l.say("acquired", (lease.value().isEmpty() ? "" : ",\"value\":" + quoted(lease.value()))
							+ (lease.token() == 0 ? "" : ",\"token\":" + lease.token())
							+ (lease.ttlMillis() == 0 ? "" : ",\"ttl_ms\":" + lease.ttlMillis()));
				} else {
					lock.release();
					l.say("released", "");
				}
			} catch (Refused why) {
				l.say("refused", ",\"why\":" + quoted(String.valueOf(why.getMessage())));
			} catch (Exception why) {
				l.say("failed", ",\"why\":" + quoted(why.toString()));
			}
		}
		System.exit(0);
	}

	private synchronized void say(String word, String more) throws IOException {
		out.write("{\"word\":\"" + word + "\"" + more + "}\n");
		out.flush();
	}

	private static String text(String line, String pattern, String otherwise) {
		Matcher m = Pattern.compile(pattern).matcher(line);
		return m.find() ? m.group(1) : otherwise;
	}

	private static long number(String line, String name, long otherwise) {
		return (long) Double.parseDouble(text(line, "\"" + name + "\":([0-9.eE+]+)", String.valueOf(otherwise)));
	}

	private static String quoted(String s) {
		StringBuilder b = new StringBuilder("\"");
		for (char c : s.toCharArray()) {
			b.append(c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
		}
		return b.append('"').toString();
	}
}
