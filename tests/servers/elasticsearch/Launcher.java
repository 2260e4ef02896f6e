import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.KeyStoreWrapper;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * One Elasticsearch node from the class path and HOME/modules: {@code Launcher HOME DATA PORT [setting=value ...]}.
 * With ELASTIC_PASSWORD in the environment it has users; that is the password of the user elastic.
 */
public final class Launcher {

    public static void main(String[] words) {
        try {
            Path data = Path.of(words[1]);
            configureLogging(words[0], Files.createDirectories(data.resolve("logs")));
            Environment environment = new Environment(settings(words, data), Files.createDirectories(data.resolve("config")));
            // The last argument: the server's classes are on the class path, not in a named Java module.
            PluginsLoader modules = PluginsLoader.createPluginsLoader(
                PluginsLoader.loadModulesBundles(environment.modulesDir(), false), Set.of(), Map.of(), false);
            Node node = new Node(environment, modules);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
            node.start();
            new CountDownLatch(1).await(); // its own threads are daemons
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    private static void configureLogging(String home, Path logs) {
        System.setProperty("es.path.home", home);
        System.setProperty("es.logs.base_path", logs.toString());
        LogConfigurator.registerErrorListener();
        LogConfigurator.configureWithoutConfig(Settings.builder().put("logger.level", "INFO").build());
        LogConfigurator.configureESLogging();
        LogConfigurator.setNodeName("tests");
    }

    private static Settings settings(String[] words, Path data) throws Exception {
        String password = System.getenv("ELASTIC_PASSWORD");
        Settings.Builder settings = Settings.builder()
            .put("path.home", words[0])
            .put("path.data", data.resolve("indices"))
            .put("path.logs", data.resolve("logs"))
            .put("cluster.name", "esrag-tests")
            .put("node.name", "tests")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", words[2])
            .put("transport.port", "0")
            .put("cluster.routing.allocation.disk.threshold_enabled", false) // a full disk makes indices read-only
            .put("xpack.security.enabled", password != null)
            .put("xpack.security.autoconfiguration.enabled", false);
        for (String word : List.of(words).subList(3, words.length)) {
            String[] pair = word.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        if (password != null) {
            KeyStoreWrapper secrets = KeyStoreWrapper.create(); // in memory only
            secrets.setString("bootstrap.password", password.toCharArray());
            settings.setSecureSettings(secrets);
        }
        return settings.build();
    }

    private static void close(Node node) {
        try {
            node.prepareForClose();
            node.close();
            node.awaitClose(20, TimeUnit.SECONDS);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }
}
