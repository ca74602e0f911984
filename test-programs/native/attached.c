/* Threads that are no Java threads: each comes to the JVM, calls, and leaves, with an exception under way if there is one. */
#include <jni.h>
#include <pthread.h>
#include <stdio.h>

#define AT_ONCE 8

static JavaVM *vm;
static jclass target;
static jmethodID work;

static void call(JNIEnv *env, jint number) {
    (*env)->CallStaticVoidMethod(env, target, work, number);
    /* Looked at, as the JVM's checks of native code want it, and left under way. */
    (void)(*env)->ExceptionCheck(env);
}

static void *one(void *number) {
    JNIEnv *env;
    char name[32];
    snprintf(name, sizeof name, "native-%ld", (long)number);
    JavaVMAttachArgs arguments = {JNI_VERSION_10, name, NULL};
    if ((*vm)->AttachCurrentThread(vm, (void **)&env, &arguments) != JNI_OK) {
        return "cannot attach";
    }
    call(env, (jint)(long)number);
    /* Some come back: a thread may be attached more than once. */
    if ((long)number % 3 == 0) {
        (*vm)->DetachCurrentThread(vm);
        if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &arguments) != JNI_OK) {
            return "cannot attach again";
        }
        call(env, (jint)(long)number + 1000);
    }
    /* What is still under way is nobody's but the JVM's now. */
    return (*vm)->DetachCurrentThread(vm) == JNI_OK ? NULL : "cannot detach";
}

JNIEXPORT jstring JNICALL Java_Attached_threads(JNIEnv *env, jclass type, jint count) {
    (*env)->GetJavaVM(env, &vm);
    target = (*env)->NewGlobalRef(env, type);
    work = (*env)->GetStaticMethodID(env, type, "work", "(I)V");
    void *wrong = NULL;
    for (long from = 0; from < count; from += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (long i = 0; i < AT_ONCE; i++) {
            pthread_create(&threads[i], NULL, one, (void *)(from + i));
        }
        for (int i = 0; i < AT_ONCE; i++) {
            void *said;
            pthread_join(threads[i], &said);
            wrong = said ? said : wrong;
        }
    }
    return (*env)->NewStringUTF(env, wrong ? wrong : "well");
}
